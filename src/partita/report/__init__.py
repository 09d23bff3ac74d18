"""From results to tables and pictures; nothing here fits anything."""
