"""The report as one HTML file: elements, charts, sections, the page. It draws what `ReportData` holds."""
