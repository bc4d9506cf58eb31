"""Files of `cluster/envs` for Grafana, Prometheus, Kustomize and Airflow."""

import ast
import importlib.util
import json
import re
from pathlib import Path

import yaml

import cluster
from cluster.cli.main import all_commands

ENVS = Path(cluster.__file__).parent / "envs"
DASHBOARD = json.loads((ENVS / "grafana-dashboard.json").read_text())
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def rays_metrics() -> set[str]:
    """Return the metrics that the dashboards of Ray show."""
    folder = Path(importlib.util.find_spec("ray").origin).parent / "dashboard" / "modules" / "metrics" / "dashboards"
    return {name for path in folder.glob("*_panels.py") for name in re.findall(r"\bray_\w+", path.read_text())}


def test_dashboard_shows_metrics_that_exist():
    names = {name for each in EXPRESSIONS for name in re.findall(r"\bray_\w+", each)}
    of_nodes = {name for name in names if not name.startswith("ray_bitcipher_")}
    assert len(of_nodes) >= 5
    assert of_nodes <= rays_metrics()


def test_panels_of_the_dashboard_are_placed_one_beside_the_other():
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    assert (
        len({(place["x"], place["y"]) for place in places})
        == len(places)
        == len({p["id"] for p in DASHBOARD["panels"]})
    )
    assert all(place["x"] + place["w"] <= 24 for place in places)
    assert all('SessionName=~"$session"' in each for each in EXPRESSIONS)


def test_kustomization_lists_files_that_exist():
    kustomization = yaml.safe_load((ENVS / "kustomization.yaml").read_text())
    (generator,) = kustomization["configMapGenerator"]
    names = [*kustomization["resources"], *generator["files"]]
    assert all((ENVS / name).is_file() for name in names)
    assert "kuberay-nightly.yaml" in names


def test_prometheus_may_reach_the_pods_of_jobs():
    monitor, policy = yaml.safe_load_all((ENVS / "kuberay-monitoring.yaml").read_text())
    accounts = list(yaml.safe_load_all((ENVS / "kuberay-accounts.yaml").read_text()))
    (closed,) = (each for each in accounts if each["kind"] == "NetworkPolicy")
    assert monitor["spec"]["selector"] == policy["spec"]["podSelector"] == closed["spec"]["podSelector"]
    assert policy["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": 8080}]


def test_commands_of_the_airflow_dag_are_valid():
    commands = all_commands()
    tree = ast.parse((ENVS / "airflow_dag.py").read_text())
    constants = {
        name.id: value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name, value in zip(
            getattr(target, "elts", [target]), getattr(node.value, "elts", [node.value]), strict=False
        )
        if isinstance(value, ast.Constant)
    }

    def values(nodes: list[ast.expr]) -> list[str]:
        return [constants[each.id] if isinstance(each, ast.Name) else each.value for each in nodes]

    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)]
    (job,) = (values(node.value.elts) for node in assigned)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "run"]
    lines = [values([each for each in call.args if not isinstance(each, ast.Starred)]) for call in calls]
    assert [name for name, *_ in lines] == ["submit", "prune"]
    lines[0] += job
    for name, *arguments in [*lines, job]:
        commands[name].make_context(name, arguments)
