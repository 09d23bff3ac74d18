"""The bundled example is what its generator makes."""

from partita.datasets.segments import make_segments, segments_path, truth_path


def test_files_are_what_the_generator_makes():
    table, truth = make_segments()
    assert segments_path().read_text() == table
    assert truth_path().read_text() == truth


def test_example_has_what_it_promises():
    rows = [line.split(",") for line in segments_path().read_text().splitlines()]
    header, body = rows[0], rows[1:]
    assert len(body) == 300 and header[0] == "customer" and len(header) == 8
    assert all(cell == "" for cell in body[-1][1:])
    missing = sum(cell == "" for row in body for cell in row[1:]) / (300 * 7)
    assert 0.1 < missing < 0.3
