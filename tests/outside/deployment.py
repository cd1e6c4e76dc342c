"""The files in deploy/ are valid by the tools that read them, and agree with each other.

compose.yaml by the schema of the Compose specification, haproxy.cfg by haproxy itself, the Kubernetes
manifests by the schemas of the oldest and newest version that kubernetes-validate knows. Each judge is
shown a broken file, too.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

import server

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
BIN = pathlib.Path(sys.executable).parent
VERSIONS = ("1.33", "1.37")
# The longest that calls in flight are waited for.
DRAIN = 65


def accepts(*command) -> bool:
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}"[:2000])
    return done.returncode == 0


def judge(name: str, file: pathlib.Path, breaking: tuple[str, str], *command) -> None:
    server.expect(accepts(*command, file), f"{name} is valid")
    text = file.read_text()
    server.expect(breaking[0] in text, f"{name} has `{breaking[0]}`")
    with tempfile.NamedTemporaryFile("w", suffix=file.suffix) as broken:
        broken.write(text.replace(*breaking))
        broken.flush()
        server.expect(not accepts(*command, broken.name), f"{name} with `{breaking[1]}` is refused")


def seconds(text: str) -> int:
    return int(re.fullmatch(r"(\d+)s", text)[1])


def compose() -> dict:
    file = DEPLOY / "compose.yaml"
    judge("compose.yaml", file, ("stop_grace_period: 80s", "stop_grace_perod: 80s"),
          BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec")
    services = yaml.safe_load(file.read_text())["services"]
    replica = services["panoply"]
    variables = replica["environment"]
    count = replica["deploy"]["replicas"]
    server.expect(str(count) == variables["PANOPLY_REPLICA_COUNT"], "compose: limits are divided by the replicas that run")
    grace = seconds(replica["stop_grace_period"])
    server.expect(grace > int(variables["PANOPLY_LAME_DUCK"]) + DRAIN, "compose: replicas may finish their calls")
    return {"replicas": count, "lame_duck": int(variables["PANOPLY_LAME_DUCK"]),
            "ports": {variables["PANOPLY_ADMIN_ADDR"].rsplit(":")[-1]}}


def haproxy(expected: dict) -> None:
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    file = DEPLOY / "haproxy.cfg"
    judge("haproxy.cfg", file, ("balance leastconn", "balance leastcon"), program, "-c", "-f")
    text = file.read_text()
    count = int(re.search(r"server-template \w+ (\d+) ", text)[1])
    server.expect(count == expected["replicas"], "haproxy.cfg has as many servers as compose.yaml")
    port, interval, fall = re.search(r"check port (\d+) inter (\d+)s fall (\d+)", text).groups()
    server.expect(port in expected["ports"], "haproxy.cfg checks the admin address")
    server.expect(int(interval) * int(fall) < expected["lame_duck"], "replicas accept until haproxy has noticed")


def kubernetes() -> None:
    file = DEPLOY / "kubernetes/panoply.yaml"
    for version in VERSIONS:
        judge(f"panoply.yaml for {version}", file, ("minAvailable: 2", "least: 2"),
              BIN / "kubernetes-validate", "--strict", "--quiet", "-k", version)
    parts = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(file.read_text())}
    deployment = parts["Deployment", "panoply"]["spec"]
    pod = deployment["template"]
    labels = pod["metadata"]["labels"]
    settings = parts["ConfigMap", "panoply"]["data"]
    selectors = {
        "deployment": deployment["selector"]["matchLabels"],
        "service": parts["Service", "panoply"]["spec"]["selector"],
        "disruption budget": parts["PodDisruptionBudget", "panoply"]["spec"]["selector"]["matchLabels"],
        "network policy": parts["NetworkPolicy", "panoply"]["spec"]["podSelector"]["matchLabels"],
    }
    for name, selector in selectors.items():
        server.expect(selector.items() <= labels.items(), f"the {name} selects the replicas")
    jobs = parts["Job", "panoply-migrate"]["spec"]["template"]["metadata"]["labels"]
    server.expect(not selectors["service"].items() <= jobs.items(), "the service does not select the migration")
    budget = parts["PodDisruptionBudget", "panoply"]["spec"]["minAvailable"]
    server.expect(budget < deployment["replicas"], "a replica may be evicted")
    server.expect(settings["PANOPLY_REPLICA_COUNT"] == str(deployment["replicas"]), "limits are divided by the replicas")
    grace = pod["spec"]["terminationGracePeriodSeconds"]
    server.expect(grace > int(settings["PANOPLY_LAME_DUCK"]) + DRAIN, "replicas may finish their calls")
    container = pod["spec"]["containers"][0]
    ready = container["readinessProbe"]
    server.expect(ready["periodSeconds"] * ready["failureThreshold"] < int(settings["PANOPLY_LAME_DUCK"]),
                  "replicas accept until the service has noticed")
    ports = {port["name"] for port in container["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        server.expect(container[probe]["httpGet"]["port"] in ports, f"the {probe} asks a port of the container")
    paths = [container[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")]
    server.expect(paths == ["/healthz", "/readyz"], "a database that is gone does not restart replicas")
    images = {parts["Deployment", "panoply"]["spec"]["template"]["spec"]["containers"][0]["image"],
              parts["Job", "panoply-migrate"]["spec"]["template"]["spec"]["containers"][0]["image"]}
    server.expect(len(images) == 1, "migration and replicas are one version")


def commands(panoply: pathlib.Path) -> None:
    """The program knows the commands of the files."""
    for words in (["db", "init"], ["http"]):
        shown = subprocess.run([panoply, *words, "--help"], capture_output=True, text=True).stdout
        for flag in ("--admin ", "--admin-password-file") if words[0] == "db" else ("--lame-duck", "--admin-addr"):
            server.expect(flag in shown, f"`panoply {' '.join(words)}` has {flag.strip()}")


def main() -> None:
    given = server.arguments()
    haproxy(compose())
    kubernetes()
    commands(given.panoply)


if __name__ == "__main__":
    sys.exit(main())
