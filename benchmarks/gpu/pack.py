#!/usr/bin/env python3
"""Makes the folder that travels to a machine with a GPU: programs, their libraries and the peers' wheels. Fails if everything that
travels is larger than a limit.

usage: pack.py BUILD FOLDER [--wheels FOLDER] [--grc FOLDER] [--un FOLDER] [--limit MIB]

BUILD is the folder of a CUDA build whose LibTorch has the version of the LibTorch on that machine (`tools/check-torch VERSION` makes
one). FOLDER gets the programs `cachet`, `classifier_steps_benchmark` and, if they are built, `ops_tests` and `models_tests`, without
debug symbols, and in `lib` the libraries of Cachet and those of the system that they load. So it also suits `tools/check-device --built FOLDER`. --wheels copies wheels, and
--grc and --un copy checkouts of the published codes (GRC_SRC, UN_SRC). The repository's own files travel, too, and count. Prints the sizes and
the commands for the machine.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {"cachet": "cachet_command", "classifier_steps_benchmark": "classifier_steps_benchmark"}  # and their targets
TESTS = ("ops_tests", "models_tests")
EVERYWHERE = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.", "libstdc++.", "libgomp.", "libresolv.", "libcachet")
CODES = {"grc": "gated recurrent caches", "un": "unified normalization"}
MIB = 1 << 20
ROWS = ("models_128", "models_32", "cache", "published_cache", "un_training", "un_folded", "loader")


def copy_stripped(file, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, target)
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", target], check=True)


def copy_libraries(build, folder):
    """Each library once, under the name by which programs ask for it: links do not travel."""
    for library in sorted((build / "lib").glob("libcachet*.so*")):
        names = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
        soname = next((line.split("[")[1].rstrip("]") for line in names.splitlines() if "(SONAME)" in line), library.name)
        if "openvino" not in soname and not (folder / "lib" / soname).exists():
            copy_stripped(library.resolve(), folder / "lib" / soname)


def copy_system_libraries(build, folder):
    """The libraries of this system that a machine with a compiler may lack."""
    for file in [folder / name for name in (*PROGRAMS, *TESTS)] + sorted((folder / "lib").iterdir()):
        said = subprocess.run(["ldd", build / file.name if file.parent == folder else build / "lib" / file.name],
                              capture_output=True, text=True).stdout
        for line in said.splitlines():
            name, _, rest = line.strip().partition(" => ")
            path = pathlib.Path(rest.split(" (")[0])
            if rest.startswith(("/lib/", "/usr/lib/")) and not name.startswith(EVERYWHERE) and not (folder / "lib" / name).exists():
                copy_stripped(path.resolve(), folder / "lib" / name)


def size_of(paths):
    return sum(path.stat().st_size for path in paths if path.is_file() and not path.is_symlink())


def repository_files():
    """Tracked files, and untracked files that git does not ignore."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True,
                          check=True)
    return [ROOT / name for name in done.stdout.decode().split("\0") if name]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--wheels", type=pathlib.Path, metavar="FOLDER", help="wheels of Python packages that the machine lacks")
    for code, what in CODES.items():
        parser.add_argument(f"--{code}", type=pathlib.Path, metavar="FOLDER", help=f"the published code of {what}")
    parser.add_argument("--limit", type=float, default=64, metavar="MIB", help="largest size of everything that travels (64)")
    options = parser.parse_args()
    missing = [name for name in PROGRAMS if not (options.build / name).exists()]
    if missing:
        sys.exit(f"{options.build} has no {missing[0]}; build the target {PROGRAMS[missing[0]]}")
    if options.folder.exists():
        sys.exit(f"{options.folder} is there; remove it, or name another folder")
    for name in (*PROGRAMS, *TESTS):
        if (options.build / name).exists():
            copy_stripped(options.build / name, options.folder / name)
    copy_libraries(options.build, options.folder)
    copy_system_libraries(options.build, options.folder)
    if options.wheels:
        shutil.copytree(options.wheels, options.folder / "wheels")
    codes = {code: folder for code in CODES if (folder := getattr(options, code))}
    for code, folder in codes.items():
        ignored = shutil.ignore_patterns(".git", "*.png", "*.gif", "*.ipynb", "*.jpg")
        shutil.copytree(folder, options.folder / code, ignore=ignored)
    packed = set(options.folder.resolve().rglob("*"))
    sizes = {str(options.folder): size_of(packed), "the repository": size_of(path for path in repository_files() if path not in packed)}
    for what, size in sizes.items():
        print(f"{what}: {size / MIB:.1f} MiB")
    total = sum(sizes.values()) / MIB
    if total > options.limit:
        sys.exit(f"{total:.1f} MiB travel, but at most {options.limit:g} MiB may; leave out wheels, or build with -DCACHET_DOWNLOADS=OFF, without libcurl")
    print(f"{total:.1f} of {options.limit:g} MiB. On the machine, one call for each row:")
    prefix = ""
    if options.wheels:
        prefix += (f"python3 -m pip install -q --no-index --no-deps --target /tmp/wheels {options.folder}/wheels/*.whl && "
                   "export PYTHONPATH=/tmp/wheels && ")
    for code in codes:
        prefix += f"export {code.upper()}_SRC=$PWD/{options.folder}/{code} && "
    for row in ROWS:
        print(f"  {prefix}python3 benchmarks/gpu/measure.py {row} --programs {options.folder} -o rows.jsonl")


if __name__ == "__main__":
    main()
