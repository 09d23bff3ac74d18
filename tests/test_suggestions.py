"""Wrong but guessable names: the message of every entry of the tables, in Python and on the command line."""

import pytest

import partita
from partita.core.errors import MethodError, ParameterError
from partita.core.suggest import ATTRIBUTES, COMMANDS, METHODS, OF_A_RESULT, PARAMETERS, RESULT, suggests_names
from partita.registry import METHODS as REGISTRY
from tests.cli.command import partita as command

TABLE = [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0]]
X = [[0.0], [0.1], [5.0], [5.1]]

CALLS = {
    "consensus": (lambda **given: partita.consensus(TABLE, **given), ("k", "seed", "threads")),
    "select_k": (lambda **given: partita.select_k(TABLE, **given), ("k", "seed", "threads")),
    "compare": (lambda **given: partita.compare(TABLE, **given), ("k", "seed", "threads", "workers")),
    "leave_one_out": (lambda **given: partita.leave_one_out(TABLE, **given), ("k", "seed", "threads")),
    "cluster": (lambda **given: partita.cluster(X, **given), ("k", "seed", "threads")),
    "make_ensemble": (lambda **given: partita.make_ensemble(X, **given), ("k", "seed", "threads")),
    "stream": (lambda **given: partita.stream(TABLE, **given), ("k", "seed")),
    "polish": (lambda **given: partita.polish(TABLE, [0, 0, 1, 1], **given), ("k", "threads")),
    "summarise": (lambda **given: partita.summarise(TABLE, **given), ("seed", "threads")),
    "diagnose": (lambda **given: partita.diagnose(TABLE, [0, 0, 1, 1], **given), ("seed", "threads")),
    "write_report": (lambda **given: partita.write_report("x.html", TABLE, **given), ("k", "seed", "threads")),
    "read": (lambda **given: partita.read("x.csv", **given), ("ids",)),
    "read_labels": (lambda **given: partita.io.read_labels("x.csv", **given), ("ids",)),
    "from_labels": (lambda **given: partita.Ensemble.from_labels(TABLE, **given), ("ids",)),
    "ConsensusClustering": (partita.ConsensusClustering, ("n_clusters", "random_state")),
    "EnsembleClustering": (partita.EnsembleClustering, ("n_clusters", "random_state")),
}
"""How each function is called, and the names in the groups of `PARAMETERS` that it has."""


def synonyms():
    for call, (_, has) in CALLS.items():
        for group in PARAMETERS:
            meant = [name for name in group if name in has]
            for wrong in group:
                if meant and wrong not in has:
                    yield call, wrong, meant
    yield from (("consensus", "K", ["k"]), ("consensus", "Seed", ["seed"]), ("consensus", "n_cluster", ["k"]))


@pytest.mark.parametrize(("call", "wrong", "meant"), list(synonyms()))
def test_parameters(call, wrong, meant):
    with pytest.raises(ParameterError) as found:
        CALLS[call][0](**{wrong: 3})
    assert f"parameter {wrong!r}; did you mean {' or '.join(map(repr, meant))}? " in str(found.value)


def test_restarts():
    with pytest.raises(ParameterError, match=r"mm: unknown parameter 'n_init'; did you mean 'restarts'\?"):
        partita.consensus(TABLE, "mm", 2, n_init=3)


def test_a_name_like_no_other():
    with pytest.raises(ParameterError, match=r"auto: unknown parameter 'zzz'; valid parameters: candidates, "):
        partita.consensus(TABLE, zzz=3)
    with pytest.raises(ParameterError, match=r"compare: unknown parameter 'zzz'; valid parameters: ensemble, k, "):
        partita.compare(TABLE, zzz=3)


@pytest.mark.parametrize(("wrong", "meant"), METHODS.items())
def test_methods(wrong, meant):
    assert set(meant) <= set(REGISTRY)
    with pytest.raises(MethodError) as found:
        partita.consensus(TABLE, wrong.replace("-", "_").upper(), 2)
    assert f"did you mean {' or '.join(map(repr, meant))}? there are auto" in str(found.value)


@pytest.mark.parametrize("method", REGISTRY)
def test_methods_in_another_spelling(method):
    other = method.upper().replace("-", "_")
    with pytest.raises(MethodError, match=f"no method is called '{other}'; did you mean '{method}'?"):
        partita.select_k(TABLE, [2], other)


@pytest.mark.parametrize("k", [10, range(2, 5), [2, 3]])
def test_the_number_of_clusters_in_place_of_the_method(k):
    with pytest.raises(MethodError) as found:
        partita.consensus(TABLE, k)
    assert str(found.value) == (
        f"method={k}: expected the name of a method, such as 'mcla', as the second argument; "
        f"give the number of clusters by name: k={k}"
    )


OTHERS = {
    "summarize": "summarise",
    "list_methods": "methods",
    "ConsensusClusterer": "ConsensusClustering",
    "CONSENSUS": "consensus",
    "ensemble": "Ensemble",
}


@pytest.mark.parametrize(
    ("wrong", "meant"), [*OTHERS.items(), *((wrong.replace("-", "_"), *meant) for wrong, meant in ATTRIBUTES.items())]
)
def test_attributes_of_the_module(wrong, meant):
    assert meant in partita.__all__
    with pytest.raises(AttributeError) as found:
        getattr(partita, wrong)
    assert str(found.value) == f"module 'partita' has no attribute {wrong!r}; did you mean {meant!r}?"


def test_a_decorated_function_keeps_its_signature():
    import inspect

    @suggests_names
    def toy(table, *, seed=0):
        """Return nothing."""

    assert str(inspect.signature(toy)) == "(table, *, seed=0)" and toy.__doc__ == "Return nothing."


OPTIONS = [
    ("run", "--n-clusters", "--k"),
    ("run", "--n_clusters", "--k"),
    ("run", "--clusters", "--k"),
    ("run", "--random-state", "--seed"),
    ("run", "--n-jobs", "--threads", "--workers"),
    ("run", "--jobs", "--threads", "--workers"),
    ("run", "--ids", "--id"),
    ("run", "--index", "--id"),
    ("run", "--out", "--output"),
    ("run", "--sede", "--seed"),
    ("cluster", "--n-clusters", "--k"),
    ("cluster", "--n-jobs", "--threads"),
    ("report", "--random-seed", "--seed"),
    ("federate simulate", "--n-clusters", "--k"),
]


@pytest.mark.parametrize(("words", "wrong", "meant"), [(words, wrong, meant) for words, wrong, *meant in OPTIONS])
def test_options(words, wrong, meant):
    done = command(*words.split(), "labels.csv", wrong, "3")
    told = " ".join(done.stderr.replace("│", " ").split())
    assert done.returncode == 2 and f"No such option: {wrong}" in told
    assert told.partition("option: ")[2].partition(" ╰")[0].count("--") == 1 + len(meant)
    assert all(f"{option}" in told for option in meant)


@pytest.mark.parametrize("words", ["run --zzz x", "federate zzz"])
def test_words_like_no_other(words):
    done = command(*words.split())
    assert done.returncode == 2 and "did you mean" not in done.stderr.lower() and "possible" not in done.stderr.lower()


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [*COMMANDS.items(), ("summarize", ["summarise"]), ("select_k", ["select-k"]), ("list-methods", ["methods"])],
)
def test_commands(wrong, meant):
    done = command(wrong, "labels.csv")
    assert done.returncode == 2
    assert f"No such command {wrong!r}. Did you mean {' or '.join(map(repr, meant))}?" in done.stderr


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [*((word.replace("-", "_"), names) for word, names in RESULT.items()), ("labels_", ("labels",)), ("K", ("k",))],
)
def test_attributes_of_a_result(wrong, meant):
    result = partita.consensus(TABLE, "voting", k=2)
    with pytest.raises(AttributeError) as found:
        getattr(result, wrong)
    assert f"no attribute {wrong!r}; did you mean {' or '.join(map(repr, meant))}? " in str(found.value)
    assert not hasattr(result, "_repr_png_") and all(hasattr(result, name) for name in meant)


@pytest.mark.parametrize("name", OF_A_RESULT)
def test_methods_of_a_result_in_the_module(name):
    assert hasattr(partita.Consensus, name)
    with pytest.raises(AttributeError, match=rf"a result has it: partita\.consensus\(\.\.\.\)\.{name}$"):
        getattr(partita, name)


@pytest.mark.parametrize("name", ["mcla", "bce_vb", "MM"])
def test_methods_in_the_module(name):
    method = name.lower().replace("_", "-")
    with pytest.raises(AttributeError, match=rf"use partita\.consensus\(\.\.\., method='{method}'\)$"):
        getattr(partita, name)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: partita.consensus(X=TABLE, k=2), "consensus: unknown parameter 'X'; did you mean 'ensemble'?"),
        (lambda: partita.consensus(labels=TABLE), "unknown parameter 'labels'; did you mean 'ensemble'?"),
        (lambda: partita.consensus(data=TABLE), "unknown parameter 'data'; did you mean 'ensemble'?"),
        (lambda: partita.cluster(data=X, k=2), "cluster: unknown parameter 'data'; did you mean 'X'?"),
        (lambda: partita.stream(data="parts", k=2), "stream: unknown parameter 'data'; did you mean 'table'?"),
        (lambda: partita.polish(TABLE, result=[0, 0, 1, 1]), "unknown parameter 'result'; did you mean 'labels'?"),
        (lambda: partita.diagnose(TABLE, result=[0, 0, 1, 1]), "unknown parameter 'result'; did you mean 'consensus'?"),
        (lambda: partita.leave_one_out(TABLE, "mcla"), "k='mcla' is not a whole number.*: method='mcla'"),
        (lambda: partita.cluster(X, "mcla"), "k='mcla' is not a whole number.*: method='mcla'"),
        (lambda: partita.select_k(TABLE, "mcla"), "k='mcla' is not a list of numbers.*: method='mcla'"),
        (
            lambda: partita.cluster(X, 2, method="USPEC"),
            r"method='USPEC' makes base .*; give way='uspec' \(--way uspec\)",
        ),
        (lambda: partita.stream("parts", "q.csv", 3), "method=3: expected the name of a method.*by name: k=3"),
        (lambda: partita.write_report("q.html", TABLE, "mcla", 3), "method=3: expected the name .*by name: k=3"),
        (
            lambda: partita.write_report(TABLE, "q.html"),
            r"path is a list: expected .*: write_report\('report.html', ens",
        ),
        (
            lambda: partita.stream("parts", 3),
            "output=3: expected the path of a file or a folder as the second argument",
        ),
    ],
)
def test_arguments_in_the_wrong_place(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=message):
        call()
    assert not list(tmp_path.iterdir())


def test_a_required_argument_without_a_similar_name_stays_a_type_error():
    with pytest.raises(TypeError, match="ensemble"):
        partita.consensus(k=2)
