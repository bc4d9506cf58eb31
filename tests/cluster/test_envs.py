"""Files of `cluster/envs` against the schemas of their readers, and their commands against the command line.

Objects of Kubernetes are checked by its own schemas, in which unknown fields are forbidden. A RayJob and a PodMonitor
are checked against the definitions in the folder BITCIPHER_CRDS: helm-chart/kuberay-operator/crds/ray.io_rayjobs.yaml
of github.com/ray-project/kuberay, and example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml of
github.com/prometheus-operator/prometheus-operator.
"""

import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

import cluster
from cluster.cli.main import all_commands

ENVS = Path(cluster.__file__).parent / "envs"
COMMANDS = all_commands()
GPU = "nvidia.com/gpu"
# Definitions of the kinds that are not of Kubernetes, by the group of their API.
DEFINITIONS = {"ray.io": "ray.io_rayjobs.yaml", "monitoring.coreos.com": "monitoring.coreos.com_podmonitors.yaml"}
LAUNCHER = ("ray-aws.yaml", "ray-on-premises.yaml")
BUILD_COMMAND = re.compile(
    r"^\s*(?:ExecStart=\S*/bitcipher|python -m cluster\.cli\.main|bitcipher)\s(.*)$", re.MULTILINE
)


def objects(name: str) -> list[dict[str, Any]]:
    """Return the Kubernetes objects of a file, including those in its ConfigMaps."""
    found = list(yaml.safe_load_all((ENVS / name).read_text()))
    inner = [each["data"].items() for each in found if each["kind"] == "ConfigMap"]
    return found + [yaml.safe_load(text) for items in inner for name, text in items if name.endswith(".yaml")]


KUBERNETES = [each for path in sorted(ENVS.glob("kube*-*.yaml")) for each in objects(path.name)]
RAY_JOBS = [each for each in KUBERNETES if each["kind"] == "RayJob"]


def pods(value: Any) -> list[dict[str, Any]]:
    """Return the specs of all pods of an object."""
    if isinstance(value, list):
        return [pod for each in value for pod in pods(each)]
    if not isinstance(value, dict):
        return []
    own = [value] if "containers" in value else []
    return own + [pod for each in value.values() for pod in pods(each)]


def gibibytes(size: str) -> float:
    """Return a size of Kubernetes in GiB."""
    return float(size[:-2]) * {"Gi": 1, "Mi": 1 / 1024}[size[-2:]]


def named(objects: list[dict[str, Any]], kind: str) -> set[str]:
    return {each["metadata"]["name"] for each in objects if each["kind"] == kind}


def command_lines() -> list[str]:
    texts = [path.read_text() for path in ENVS.iterdir() if path.is_file()] + [(ENVS.parent / "README.md").read_text()]
    entrypoints = [job["spec"]["entrypoint"].removeprefix("python -m cluster.cli.main ") for job in RAY_JOBS]
    return entrypoints + [line for text in texts for line in BUILD_COMMAND.findall(text)]


@pytest.mark.parametrize("line", sorted(set(command_lines())))
def test_every_command_of_the_files_is_valid(line):
    name, *arguments = shlex.split(line, comments=True)
    assert name in COMMANDS
    given = COMMANDS[name].make_context(name, arguments).params
    if name == "submit":
        inner, *arguments = given["command"]
        assert inner in COMMANDS
        COMMANDS[inner].make_context(inner, arguments)


def test_command_lines_finds_all_kinds_of_commands():
    assert {line.split()[0] for line in command_lines()} >= {"build", "update", "prune", "train", "submit", "doctor"}


@pytest.mark.parametrize("name", LAUNCHER)
def test_launcher_files_match_rays_schema(name):
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = yaml.safe_load((ENVS / name).read_text())
    validate_config(prepare_config(config))
    with pytest.raises(jsonschema.ValidationError):
        validate_config(prepare_config({**config, "max_wrokers": 3}))


@pytest.mark.parametrize("name", LAUNCHER)
def test_launched_clusters_require_a_token_and_bind_the_dashboard(name):
    config = yaml.safe_load((ENVS / name).read_text())
    starts = [*config["head_start_ray_commands"], *config["worker_start_ray_commands"]]
    starts = [command for command in starts if "ray start" in command]
    assert len(starts) == 2
    assert all("RAY_AUTH_MODE=token" in command and "RAY_USAGE_STATS_ENABLED=0" in command for command in starts)
    assert "--dashboard-host=127.0.0.1" in starts[0]
    assert config["file_mounts"]["~/.ray/auth_token"] == "~/.ray/auth_token"


def test_cloud_cluster_opens_only_ssh_to_one_network():
    config = yaml.safe_load((ENVS / "ray-aws.yaml").read_text())
    (rule,) = config["provider"]["security_group"]["IpPermissions"]
    assert (rule["FromPort"], rule["ToPort"]) == (22, 22)
    assert "0.0.0.0/0" not in [each["CidrIp"] for each in rule["IpRanges"]]
    kinds = config["available_node_types"]
    assert config["head_node_type"] in kinds
    assert all(kind["node_config"]["MetadataOptions"]["HttpTokens"] == "required" for kind in kinds.values())


@pytest.mark.parametrize(
    "pod", [pod for each in KUBERNETES for pod in pods(each)], ids=lambda p: p["containers"][0]["name"]
)
def test_pods_are_unprivileged_and_limited(pod):
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] >= 1000
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in pod["containers"]:
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert re.fullmatch(r"[^:@]+:[\w.-]+@sha256:[0-9a-f]{64}", container["image"])
        assert ":latest" not in container["image"]
        assert set(container["resources"]["limits"]) - {GPU} == {"cpu", "memory", "ephemeral-storage"}
        has_gpu = GPU in container["resources"]["limits"]
        assert has_gpu == any(each["key"] == GPU for each in pod.get("tolerations", []))
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = [mount for container in pod["containers"] for mount in container["volumeMounts"]]
    assert {mount["name"] for mount in mounts} == set(volumes)
    # Only what vanishes with the pod can be written to, and it counts toward the limit of storage, or of memory.
    for mount in mounts:
        assert mount.get("readOnly") or volumes[mount["name"]]["emptyDir"]["sizeLimit"]
    on_disk = [each["emptyDir"] for each in volumes.values() if "emptyDir" in each]
    size = sum(gibibytes(each["sizeLimit"]) for each in on_disk if each.get("medium") != "Memory")
    limits = [gibibytes(each["resources"]["limits"]["ephemeral-storage"]) for each in pod["containers"]]
    assert size <= sum(limits)


@pytest.mark.parametrize("job", RAY_JOBS, ids=lambda job: job["metadata"]["generateName"])
def test_ray_jobs_have_token_shared_memory_and_deadline(job):
    assert job["apiVersion"] == "ray.io/v1"
    spec = job["spec"]
    ray = spec["rayClusterSpec"]
    assert ray["authOptions"] == {"mode": "token"}
    assert ray["rayVersion"] == re.search(r"^ray==(.*)$", constraints(), re.MULTILINE)[1]
    assert spec["activeDeadlineSeconds"] <= 24 * 3600
    # KubeRay accepts one of the two ways to clean up, not both.
    assert spec.get("shutdownAfterJobFinishes", False) != ("deletionStrategy" in spec)
    groups = [ray["headGroupSpec"], *ray["workerGroupSpecs"]]
    for group in groups:
        volumes = {volume["name"]: volume["emptyDir"] for volume in group["template"]["spec"]["volumes"]}
        assert volumes["shm"]["medium"] == "Memory"
        (container,) = group["template"]["spec"]["containers"]
        assert {"name": "shm", "mountPath": "/dev/shm"} in container["volumeMounts"]
        assert {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"} in container["env"]
    workers = int(re.search(r"--workers (\d+)", spec["entrypoint"])[1])
    (group,) = ray["workerGroupSpecs"]
    requests = group["template"]["spec"]["containers"][0]["resources"]["requests"]
    # A worker of training has a GPU, and each other worker has a CPU.
    assert workers == group["replicas"] * int(requests.get(GPU, requests["cpu"]))
    assert (GPU in requests) == ("loop.device=cuda" in spec["entrypoint"])


def test_image_and_launched_nodes_have_torch():
    extras = [(ENVS / name).read_text() for name in (*LAUNCHER, "Dockerfile")]
    assert all("cluster,training,s3" in text for text in extras)


def test_labels_and_service_accounts_that_pods_name_exist():
    policy = next(each for each in objects("kuberay-accounts.yaml") if each["kind"] == "NetworkPolicy")
    chosen = policy["spec"]["podSelector"]["matchLabels"]
    for job in RAY_JOBS:
        ray = job["spec"]["rayClusterSpec"]
        for group in (ray["headGroupSpec"], *ray["workerGroupSpecs"]):
            assert group["template"]["metadata"]["labels"] == chosen
    accounts = {pod["serviceAccountName"] for each in KUBERNETES for pod in pods(each)}
    assert accounts == named(KUBERNETES, "ServiceAccount")


def pod_labels(value: Any) -> list[dict[str, str]]:
    """Return the labels of all pods of an object, from their templates."""
    if isinstance(value, list):
        return [labels for each in value for labels in pod_labels(each)]
    if not isinstance(value, dict):
        return []
    own = [value["metadata"]["labels"]] if "containers" in value.get("spec", ()) else []
    return own + [labels for each in value.values() for labels in pod_labels(each)]


def test_every_pod_has_a_policy_that_denies_other_connections():
    policies = [each["spec"] for each in KUBERNETES if each["kind"] == "NetworkPolicy"]
    for labels in (labels for each in KUBERNETES for labels in pod_labels(each)):
        chosen = [each for each in policies if each["podSelector"]["matchLabels"].items() <= labels.items()]
        assert any("Egress" in each["policyTypes"] for each in chosen)
        assert all("Ingress" in each["policyTypes"] for each in chosen)
        for rule in (rule for each in chosen for kind in ("ingress", "egress") for rule in each.get(kind, [])):
            peers = rule.get("from", []) + rule.get("to", [])
            assert peers  # a rule without peers allows all
            assert not any(each.get("ipBlock", {}).get("cidr", "").endswith("/0") for each in peers)
            assert {} not in [each.get("namespaceSelector") for each in peers]


def test_server_listens_only_to_the_proxy_of_its_pod():
    found = {each["kind"]: each for each in objects("kubernetes-serve.yaml")}
    (pod,) = pods(found["Deployment"])
    serve, proxy = pod["containers"]
    program, name, *arguments = serve["command"]
    assert program == "bitcipher"
    given = COMMANDS[name].make_context(name, arguments).params
    assert (given["host"], f"server 127.0.0.1:{given['port']};") == (
        "127.0.0.1",
        re.search(r"server 127[^;]*;", found["ConfigMap"]["data"]["nginx.conf"])[0],
    )
    assert "ports" not in serve
    (port,) = proxy["ports"]
    assert [each["targetPort"] for each in found["Service"]["spec"]["ports"]] == [port["name"]]
    assert found["NetworkPolicy"]["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": port["containerPort"]}]
    for probe in ("startupProbe", "readinessProbe"):
        assert proxy[probe]["httpGet"] == {"path": "/health", "port": port["name"], "scheme": "HTTPS"}
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert found["Service"]["spec"]["selector"] == labels
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels


def test_nightly_job_may_only_create_ray_jobs():
    found = objects("kuberay-nightly.yaml")
    cron, role, binding, config, job = (
        next(each for each in found if each["kind"] == kind)
        for kind in ("CronJob", "Role", "RoleBinding", "ConfigMap", "RayJob")
    )
    assert cron["spec"]["concurrencyPolicy"] == "Forbid"
    assert role["rules"] == [{"apiGroups": ["ray.io"], "resources": ["rayjobs"], "verbs": ["create"]}]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    (pod,) = pods(cron)
    assert [subject["name"] for subject in binding["subjects"]] == [pod["serviceAccountName"]]
    (container,) = pod["containers"]
    verb, _, path = container["args"]
    assert verb == "create"
    assert Path(path).parent == Path(container["volumeMounts"][0]["mountPath"])
    assert Path(path).name in config["data"]
    assert pod["volumes"][0]["configMap"]["name"] == config["metadata"]["name"]
    assert " update " in job["spec"]["entrypoint"]
    assert job["spec"]["activeDeadlineSeconds"] < 24 * 3600 - cron["spec"]["startingDeadlineSeconds"]


def test_systemd_accepts_the_units(tmp_path):
    service, timer = (configparser.ConfigParser(strict=False, interpolation=None) for _ in range(2))
    for parser in (service, timer):
        parser.optionxform = str
    service.read(ENVS / "bitcipher-nightly.service")
    timer.read(ENVS / "bitcipher-nightly.timer")
    assert service["Service"]["Type"] == "oneshot"
    assert service["Service"]["NoNewPrivileges"] == "yes"
    assert service["Service"]["ProtectSystem"] == "strict"
    assert "Install" not in service  # its timer starts it
    assert timer["Timer"]["Persistent"] == "true"
    assert timer["Install"]["WantedBy"] == "timers.target"
    if shutil.which("systemd-analyze"):
        for path in ENVS.glob("bitcipher-nightly.*"):
            # systemd also checks the path of the program, which is installed elsewhere here.
            text = path.read_text().replace("/opt/bitcipher/bin/bitcipher", sys.executable)
            (tmp_path / path.name).write_text(text)
        units = sorted(map(str, tmp_path.iterdir()))
        result = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (0, "")


def kustomized() -> list[dict[str, Any]]:
    """Return the objects that `kubectl apply -k` would send, or those of the files where there is no kubectl."""
    if not shutil.which("kubectl"):
        names = yaml.safe_load((ENVS / "kustomization.yaml").read_text())["resources"]
        return [each for name in names for each in yaml.safe_load_all((ENVS / name).read_text())]
    result = subprocess.run(["kubectl", "kustomize", str(ENVS)], capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(result.stdout))


def test_objects_match_the_schemas_of_kubernetes():
    found = [*KUBERNETES, *kustomized()]
    checked = [each for each in found if each["apiVersion"].split("/")[0] not in DEFINITIONS]
    version = kubernetes_validate.latest_version()
    for each in checked:
        kubernetes_validate.validate(each, version, strict=True)
    kinds = {each["kind"] for each in checked}
    assert kinds == {
        *("ConfigMap", "CronJob", "Deployment", "NetworkPolicy", "PodDisruptionBudget"),
        *("Role", "RoleBinding", "Service", "ServiceAccount"),
    }
    cron = next(each for each in checked if each["kind"] == "CronJob")
    wrong = {**cron, "spec": {**cron["spec"], "shedule": "0 1 * * *"}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, version, strict=True)


@pytest.mark.slow
@pytest.mark.parametrize("group", DEFINITIONS)
def test_objects_match_the_definitions_of_operators(group):
    folder = os.environ.get("BITCIPHER_CRDS")
    assert folder, "Name a folder with the definitions of KubeRay and the Prometheus Operator by BITCIPHER_CRDS."
    definition = yaml.safe_load(Path(folder, DEFINITIONS[group]).read_text())["spec"]
    found = [each for each in [*KUBERNETES, *kustomized()] if each["apiVersion"].startswith(f"{group}/")]
    assert {each["kind"] for each in found} == {definition["names"]["kind"]}
    schemas = {each["name"]: each["schema"]["openAPIV3Schema"] for each in definition["versions"]}
    for each in found:
        strict = forbid_unknown_fields(schemas[each["apiVersion"].partition("/")[2]]["properties"]["spec"])
        jsonschema.validate(each["spec"], strict)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**each["spec"], "entrypiont": "x"}, strict)


def forbid_unknown_fields(schema: Any) -> Any:
    """Return the schema with unknown fields forbidden, as in `kubectl`."""
    if isinstance(schema, list):
        return [forbid_unknown_fields(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {name: forbid_unknown_fields(each) for name, each in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        strict.setdefault("additionalProperties", False)
    return strict


def constraints() -> str:
    return (Path(__file__).parents[2] / "constraints.txt").read_text()
