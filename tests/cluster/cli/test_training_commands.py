"""Output and errors of `train`, `compare`, `generate`, `evaluate-lm` and `study class-centers layers`, on tiny runs."""

import json
import shutil

import labeled
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import tiny_commands
import user_folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs with random init, one with cipher init, and labeled words."""
    folder = tmp_path_factory.mktemp("training")
    for seed in (1, 2):
        tiny_commands.train(folder, folder / f"random-{seed}", f"seed={seed}")
    build = "embeddings.build={mode: sum, summed: true, bits: 16, window: 4}"
    tiny_commands.train(folder, folder / "cipher-1", build, recipe="figure-4-near")
    labeled.write_gum(folder / "gum", 40)
    return folder


@pytest.fixture
def run(monkeypatch, runs, run_command):
    monkeypatch.chdir(runs)
    return run_command


def test_runs_are_compared_by_recipe(run, tmp_path):
    out = tmp_path / "new" / "comparison"
    for _ in range(2):  # the second call overwrites the files
        code, printed, _ = run("compare", "random-1", "cipher-1", "random-2", "--out", out)
        assert code == 0
        assert sorted(path.name for path in out.iterdir()) == ["curves.html", "curves.png", "lead.png", "table.md"]
        assert (out / "table.md").read_text() == printed
    header, _, random, cipher, *_ = printed.splitlines()
    assert header.endswith("| steps to random's final loss |")
    assert random.startswith("| random | 2 | ")
    assert cipher.startswith("| cipher-1 | 1 | ")
    assert "±" in random
    assert "±" not in cipher
    assert (out / "curves.png").read_bytes()[:4] == b"\x89PNG"
    assert ">cipher-1</td>" in (out / "curves.html").read_text()


def test_layers_writes_all_checkpoints(run, tmp_path):
    arguments = ("--sequences", 8, "--classes", 5, "--task", "pos", "--data", "gum")
    code, printed, _ = run("study", "class-centers", "layers", "random-1", "--out", tmp_path / "layers", *arguments)
    assert code == 0
    assert str(tmp_path / "layers") in printed
    table = pq.read_table(tmp_path / "layers" / "layers.parquet")
    assert set(table["step"].to_pylist()) == {0, 3, 6}
    assert set(table["layer"].to_pylist()) == {0, 1, 2}
    assert "pos_accuracy" in table["metric"].to_pylist()
    assert pyarrow.csv.read_csv(tmp_path / "layers" / "layers.csv") == table
    assert (tmp_path / "layers" / "layers.png").read_bytes()[:4] == b"\x89PNG"


def test_minimal_pairs_are_scored_by_phenomenon(run, tmp_path):
    user_folder.write_minimal_pairs(tmp_path / "blimp")
    same = {"sentence_good": "wampimuk", "sentence_bad": "wampimuk"}
    (tmp_path / "blimp" / "same.jsonl").write_text(json.dumps(same))
    code, printed, _ = run("evaluate-lm", "pairs", "random-1", tmp_path / "blimp")
    assert code == 0
    header, _, order, equal, everything, note = printed.splitlines()
    assert header == "| phenomenon | pairs | accuracy, % | 95 % interval |"
    assert order.startswith("| order | 1 | ")
    assert equal == "| same | 1 | 0.0 | 0.0 to 79.3 |"
    assert everything.startswith("| all pairs | 2 | ")
    assert note.startswith("Pairs with the same tokens")
    assert run("evaluate-lm", "pairs", "random-1", tmp_path / "blimp", "--checkpoint", 4)[0] == 2


def test_generate_from_prompt(run, tmp_path):
    code, greedy, _ = run("generate", "random-1", "--prompt", "the king", "--max-new-tokens", 5)
    assert code == 0
    assert greedy.startswith("the king")
    assert greedy != "the king\n"
    assert run("generate", "random-1", "--prompt", "the king", "--max-new-tokens", 5)[1] == greedy
    sampled = ("generate", "random-1", "--prompt", "the king", "--temperature", 2, "--top-k", 30, "--top-p", 0.9)
    assert run(*sampled)[1] == run(*sampled, "--seed", 1)[1] != run(*sampled, "--seed", 2)[1]
    assert run(*sampled, "--checkpoint", 6)[1] == run(*sampled)[1] != run(*sampled, "--checkpoint", 3)[1]
    # A model directory as transformers writes it.
    folder = tmp_path / "model"
    shutil.copytree("random-1/checkpoints/00000006", folder)
    shutil.copy("random-1/tokenizer.json", folder)
    assert run("generate", folder, "--prompt", "the king", "--max-new-tokens", 5)[1] == greedy


def test_generate_from_prompt_file(run, tmp_path):
    path = tmp_path / "prompts.yaml"
    path.write_text('template: "{input} is\\n{output}\\n"\nexamples: [{input: a, output: b}]\ninputs: [king, queen]\n')
    code, printed, _ = run("generate", "random-1", "--prompts", path, "--shots", 1, "--max-new-tokens", 3)
    assert code == 0
    answers = [json.loads(line) for line in printed.splitlines()]
    assert [answer["prompt"] for answer in answers] == ["a is\nb\nking is\n", "a is\nb\nqueen is\n"]
    assert all(answer.keys() == {"prompt", "text"} for answer in answers)


def test_mistakes_print_one_sentence(run, tmp_path):
    for arguments, sentence in (
        (("compare", "random-1", "gum", "--out", tmp_path / "out"), "gum is not a run"),
        (("compare", "random-1", "random-1", "--out", tmp_path / "out"), "have the same recipe and seed"),
        (("study", "class-centers", "layers", "gum", "--out", tmp_path / "out"), "not a run with a checkpoint"),
        (
            ("study", "class-centers", "layers", "random-1", "--out", tmp_path / "out", "--task", "pos"),
            "both --task and --data",
        ),
        (
            ("study", "class-centers", "layers", "random-1", "--out", tmp_path / "out", "--task", "x", "--data", "gum"),
            "There is no task 'x'",
        ),
        (("generate", "random-1"), "--prompt and --prompts"),
        (("generate", "random-1", "--prompt", "a", "--prompts", "b"), "--prompt and --prompts"),
        (("generate", "random-1", "--prompt", "a", "--shots", 1), "--shots needs --prompts"),
        (("generate", "random-1", "--prompt", "a", "--top-k", 3), "set `temperature`"),
        (
            ("generate", "random-1", "--prompt", "a", "--checkpoint", 4),
            "no checkpoint of step 4",
        ),
        (("generate", "gum", "--prompt", "a"), "There is no model in gum"),
        (("generate", "gum", "--prompt", "a", "--checkpoint", 4), "not a run"),
        (("generate", "random-1", "--prompts", "missing.yaml"), "missing.yaml"),
    ):
        code, _, error = run(*arguments)
        assert code == 2, arguments
        assert error.startswith("bitcipher: ")
        assert sentence in error
        assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mode", ["cat", "sum"])
def test_cipher_vectors_have_the_hidden_size_of_the_model(tmp_path, mode):
    wide = ("model.hidden_size=64", "embeddings.init=cipher", f"embeddings.build={{mode: {mode}, window: 4}}")
    run = tiny_commands.train(tmp_path, tmp_path / "run", *wide)
    assert json.loads((run / "embedding_init.json").read_text())["vector_size"] == 64
