"""The descriptions of images and of jobs in containers fit the project, as far as can be seen without building an image."""
import re
from pathlib import Path
from typing import Iterator

import yaml

FOLDER = "launch/batch"
DOCKERFILE, APPTAINER, JOB = f"{FOLDER}/Dockerfile", f"{FOLDER}/apptainer.def", f"{FOLDER}/kubernetes.yaml"

_DOCKER_WORDS = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "CMD"}
_SECTIONS = {"files", "post", "environment", "runscript"}


def violations(root: Path) -> Iterator[str]:
    if not (root / FOLDER).is_dir():
        return
    dockerfile, apptainer = ((root / name).read_text(encoding="utf-8") for name in (DOCKERFILE, APPTAINER))
    yield from _dockerfile(root, dockerfile)
    yield from _apptainer(root, apptainer)
    yield from _job((root / JOB).read_text(encoding="utf-8"), dockerfile)


def _dockerfile(root: Path, text: str) -> Iterator[str]:
    stages: set[str] = set()
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    for command in re.sub(r"\\\n", " ", lines).splitlines():
        words = command.split()
        if not words:
            continue
        if words[0] not in _DOCKER_WORDS:
            yield f"{DOCKERFILE}: {words[0]} is none of {', '.join(sorted(_DOCKER_WORDS))}"
        elif words[0] == "FROM":
            stages |= {words[3]} if words[2:3] == ["AS"] else set()
        elif words[0] == "COPY" and words[1].startswith("--from="):
            if (stage := words[1].removeprefix("--from=")) not in stages:
                yield f"{DOCKERFILE}: no stage {stage}"
        elif words[0] == "COPY":
            yield from (f"{DOCKERFILE}: no {name}" for name in words[1:-1] if not (root / name).exists())


def _apptainer(root: Path, text: str) -> Iterator[str]:
    stages = set(re.findall(r"^Stage: (\S+)$", text, re.MULTILINE))
    for header, body in re.findall(r"^%(.+)\n((?:(?!%|Bootstrap:).*\n)*)", text, re.MULTILINE):
        name, *arguments = header.split()
        if name not in _SECTIONS:
            yield f"{APPTAINER}: %{name} is none of {', '.join(sorted(_SECTIONS))}"
        elif name == "files" and arguments:
            if arguments[-1] not in stages:
                yield f"{APPTAINER}: no stage {arguments[-1]}"
        elif name == "files":
            sources = [line.split()[0] for line in body.splitlines() if line.strip()]
            yield from (f"{APPTAINER}: no {source}" for source in sources if not (root / source).exists())


def _job(text: str, dockerfile: str) -> Iterator[str]:
    try:
        documents = list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        yield f"{JOB}: {error}"
        return
    claims = {one["metadata"]["name"] for one in documents if one["kind"] == "PersistentVolumeClaim"}
    for job in (one for one in documents if one["kind"] == "MPIJob"):
        replicas = job["spec"]["mpiReplicaSpecs"]
        launcher = replicas["Launcher"]["template"]["spec"]["containers"][0]
        variables = {one["name"]: one["value"] for one in launcher["env"]}
        used = re.findall(r"\$\((\w+)\)", " ".join(launcher["command"]))
        if sorted(used) != sorted(variables):
            yield f"{JOB}: sets {sorted(variables)}, uses {sorted(used)}"
        ranks = job["spec"]["slotsPerWorker"] * replicas["Worker"]["replicas"]
        if variables.get("RANKS") != str(ranks):
            yield f"{JOB}: RANKS is {variables.get('RANKS')}, the workers have {ranks} slots"
        user = re.search(r"^USER (\d+)$", dockerfile, re.MULTILINE)
        for name, replica in replicas.items():
            yield from _pod(name, replica["template"]["spec"], claims, user and user[1])


def _pod(name: str, pod: dict, claims: set[str], user: str | None) -> Iterator[str]:
    if str(pod["securityContext"]["runAsUser"]) != user:
        yield f"{JOB}: {name} does not run as the image's user, {user}"
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    for container in pod["containers"]:
        mounts = {mount["name"] for mount in container.get("volumeMounts", [])}
        if mounts != volumes:
            yield f"{JOB}: {name} has volumes {sorted(volumes)}, mounts {sorted(mounts)}"
    for volume in pod.get("volumes", []):
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        if claim and claim not in claims:
            yield f"{JOB}: no claim {claim}"
