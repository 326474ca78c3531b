"""Downloads of weights: the layout of the hub's cache, broken connections and servers, tokens, and the hub's own client."""
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from hub_server import COMMIT, Server, cut_after, git_digest, status

PROGRAM = None
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WEIGHTS = bytes(range(256)) * 4000
CONFIG = b'{"architecture": "vit_tiny_patch16_224"}'
FILES = {"config.json": CONFIG, "model.safetensors": WEIGHTS, "pytorch_model.bin": WEIGHTS[::-1], "README.md": b"text"}


def python_with_client():
    for python in (sys.executable, ROOT / ".venv/bin/python"):
        found = shutil.which(str(python)) and subprocess.run([python, "-c", "import huggingface_hub"], capture_output=True)
        if found and found.returncode == 0:
            return str(python)
    return None


class HubTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.store = self.serve()
        self.server = self.serve({"timm/tiny": dict(FILES)}, self.store)

    def serve(self, *words, **options):
        server = Server(*words, **options)
        self.addCleanup(server.close)
        return server

    def environment(self, **variables):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("HF_", "HUGGING", "TRANSFORMERS_")) and not name.lower().endswith("_proxy")}
        kept.update(HOME=str(self.folder), XDG_CACHE_HOME=str(self.folder / "xdg"), HF_HOME=str(self.folder / "hf"),
                    HF_ENDPOINT=self.server.address, HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_XET="1")
        kept.update(variables)
        return {name: value for name, value in kept.items() if value is not None}

    def run_it(self, name, **variables):
        return subprocess.run([PROGRAM, name], capture_output=True, text=True, timeout=120, env=self.environment(**variables))

    def fetch(self, name="hf:timm/tiny", **variables):
        done = self.run_it(name, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.notes = done.stderr
        path, self.origin, self.bytes = done.stdout.splitlines()
        return pathlib.Path(path)

    def refused(self, name="hf:timm/tiny", **variables):
        done = self.run_it(name, **variables)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        last = done.stderr.strip().splitlines()[-1]
        self.assertLessEqual(len([line for line in done.stderr.splitlines() if not line.startswith("note: ")]), 1, done.stderr)
        return last

    # The cache

    def test_lies_in_the_layout_of_the_hubs_client(self):
        path = self.fetch()
        repository = self.folder / "hf/hub/models--timm--tiny"
        self.assertEqual(path, repository / "snapshots" / COMMIT / "model.safetensors")
        self.assertEqual(path.read_bytes(), WEIGHTS)
        digest = hashlib.sha256(WEIGHTS).hexdigest()
        self.assertEqual(os.readlink(path), f"../../blobs/{digest}")
        self.assertEqual(os.readlink(path.with_name("config.json")), f"../../blobs/{git_digest(CONFIG)}")
        self.assertEqual((repository / "refs/main").read_text(), COMMIT)
        self.assertEqual(sorted(each.name for each in (repository / "blobs").iterdir()), sorted([digest, git_digest(CONFIG)]))
        self.assertTrue((self.folder / "hf/hub/.locks/models--timm--tiny" / f"{digest}.lock").is_file())
        self.assertEqual(self.origin, f"hf:timm/tiny@{COMMIT}/model.safetensors")
        self.assertEqual(self.bytes, str(len(WEIGHTS) + len(CONFIG)))

    def test_downloads_once(self):
        self.fetch()
        self.server.seen.clear()
        self.fetch()
        self.assertEqual([each["path"] for each in self.server.seen], ["/api/models/timm/tiny/revision/main"])
        self.server.seen.clear()
        self.fetch(f"hf:timm/tiny@{COMMIT}")
        self.assertEqual(self.server.seen, [])

    def test_takes_folders_from_the_variables(self):
        self.assertTrue(self.fetch(HF_HUB_CACHE=str(self.folder / "named")).is_relative_to(self.folder / "named"))
        self.assertTrue(self.fetch(HF_HOME=None).is_relative_to(self.folder / "xdg/huggingface/hub"))
        self.assertTrue(self.fetch(HF_HOME=None, XDG_CACHE_HOME=None).is_relative_to(self.folder / ".cache/huggingface/hub"))

    def test_takes_a_revision_and_a_file(self):
        path = self.fetch("hf:timm/tiny@v1/pytorch_model.bin")
        self.assertEqual(path.read_bytes(), WEIGHTS[::-1])
        self.assertEqual((self.folder / "hf/hub/models--timm--tiny/refs/v1").read_text(), COMMIT)
        self.assertEqual(self.fetch("hf:timm/tiny@refs%2Fpr%2F1").read_bytes(), WEIGHTS)
        self.assertEqual(self.fetch(self.server.address + "/timm/tiny/blob/main/pytorch_model.bin"), path)

    def test_chooses_the_weights(self):
        files = self.server.repositories["timm/tiny"]
        del files["model.safetensors"]
        self.assertEqual(self.fetch().name, "pytorch_model.bin")
        files["b.safetensors"] = WEIGHTS
        self.assertEqual(self.fetch().name, "b.safetensors")
        files["model.safetensors.index.json"] = b'{"weight_map": {"x": "a-1.safetensors", "y": "a-2.safetensors"}}'
        files.update({"a-1.safetensors": WEIGHTS, "a-2.safetensors": WEIGHTS[1:]})
        path = self.fetch()
        self.assertEqual(path.name, "model.safetensors.index.json")
        self.assertEqual(path.with_name("a-2.safetensors").read_bytes(), WEIGHTS[1:])
        self.server.repositories["timm/two"] = {"a.pth": WEIGHTS, "b.pth": WEIGHTS}
        self.assertIn("it is not clear which file has the weights; give the file as hf:OWNER/NAME/FILE. The files of the repository: 'a.pth', 'b.pth'",
                      self.refused("hf:timm/two"))

    def test_works_offline(self):
        said = self.refused(HF_HUB_OFFLINE="1")
        self.assertIn("HF_HUB_OFFLINE is set, and the cache", said)
        self.assertIn("has no revision 'main'", said)
        path = self.fetch()
        self.server.seen.clear()
        self.assertEqual(self.fetch(HF_HUB_OFFLINE="1"), path)
        self.assertIn("does not have 'pytorch_model.bin'", self.refused("hf:timm/tiny/pytorch_model.bin", HF_HUB_OFFLINE="YES"))
        self.assertEqual(self.server.seen, [])
        self.server.close()
        self.assertEqual(self.fetch(), path)
        self.assertIn("cannot be reached", self.notes)
        self.assertIn("the command uses the files of the last download", self.notes)

    def test_shares_files_with_the_hubs_client(self):
        python = python_with_client()
        if not python:
            self.skipTest("no Python here has huggingface_hub; tools/setup --tests installs it")
        code = "import sys, huggingface_hub as h; print(h.hf_hub_download('timm/tiny', sys.argv[1]))"

        def client(file, **variables):
            done = subprocess.run([python, "-c", code, file], capture_output=True, text=True, timeout=120,
                                  env=self.environment(**variables))
            self.assertEqual(done.returncode, 0, done.stderr)
            return pathlib.Path(done.stdout.strip())

        ours = self.fetch()
        self.assertEqual(client("model.safetensors", HF_HUB_OFFLINE="1"), ours)
        self.assertEqual(client("model.safetensors"), ours)
        self.assertEqual(len(self.store.requests()), 1)
        theirs = client("pytorch_model.bin")
        loads = len(self.store.requests())
        self.assertEqual(self.fetch("hf:timm/tiny/pytorch_model.bin"), theirs)
        self.assertEqual(self.bytes, "0")
        self.assertEqual(len(self.store.requests()), loads)

    # Broken connections and servers

    def test_completes_what_was_cut(self):
        self.server.faults = [cut_after(300_000), cut_after(200_000), cut_after(1)]
        self.assertEqual(self.fetch().read_bytes(), WEIGHTS)
        ranges = [each["range"] for each in self.store.requests()]
        self.assertEqual(ranges, [None, "bytes=300000-", "bytes=500000-", "bytes=500001-"])

    def test_completes_the_part_of_an_earlier_command(self):
        self.server.faults = [cut_after(300_000)] + [cut_after(0)] * 8
        self.assertIn("run the command again, which continues the download", self.refused())
        blob = self.folder / "hf/hub/models--timm--tiny/blobs" / hashlib.sha256(WEIGHTS).hexdigest()
        self.assertEqual(pathlib.Path(f"{blob}.incomplete").read_bytes(), WEIGHTS[:300_000])
        self.server.faults, before = [], len(self.store.seen)
        self.assertEqual(self.fetch().read_bytes(), WEIGHTS)
        self.assertIn("bytes=300000-", [each["range"] for each in self.store.seen[before:]])
        self.assertFalse(pathlib.Path(f"{blob}.incomplete").exists())

    def test_starts_again_where_the_part_is_of_other_bytes(self):
        blob = self.folder / "hf/hub/models--timm--tiny/blobs" / hashlib.sha256(WEIGHTS).hexdigest()
        blob.parent.mkdir(parents=True)
        pathlib.Path(f"{blob}.incomplete").write_bytes(b"x" * 5000)
        self.assertEqual(self.fetch().read_bytes(), WEIGHTS)
        self.assertIn("the download starts again from the first byte", self.notes)

    def test_refuses_another_digest_and_another_size(self):
        self.server.etags["model.safetensors"] = "a" * 64
        said = self.refused()
        self.assertIn("the SHA-256 of the downloaded file is", said)
        self.assertIn("expected aaaaaaaaaaaa…; the file was removed; run the command again later", said)
        self.assertEqual([*(self.folder / "hf/hub/models--timm--tiny/blobs").glob("a*")], [])
        self.server.etags["config.json"] = "b" * 40
        shutil.rmtree(self.folder / "hf")
        self.assertIn("git's SHA-1 of the downloaded file is", self.refused())
        self.server.etags.clear()
        self.server.sizes["model.safetensors"] = len(WEIGHTS) - 1
        self.assertIn(f"sends a file of {len(WEIGHTS)} bytes, but in the list of the hub its size is {len(WEIGHTS) - 1}", self.refused())

    def test_refuses_strange_etags(self):
        for etag in ("../../x", "", "x" * 200):
            self.server.etags["config.json"] = etag or "/"
            self.assertIn("sends no usable ETag", self.refused())

    def test_tries_again_where_the_server_is_busy(self):
        self.server.faults = [status(503), status(429, Retry_After="0"), status(502)]
        self.fetch()
        self.server.faults = [status(503)] * 4
        self.assertEqual(self.fetch().read_bytes(), WEIGHTS)
        self.assertIn("answers 503", self.notes)
        shutil.rmtree(self.folder / "hf")
        self.server.faults = [status(500)] * 4
        self.assertIn("answers 500 (an error on the server); run the command again later", self.refused())
        self.server.faults = [status(429, Retry_After="3600")]
        self.assertIn("answers 429 (too many requests); run the command again in 3600 s", self.refused())

    def test_says_what_is_wrong_with_a_name(self):
        self.assertIn("the hub answers 404 (not found); check OWNER/NAME", self.refused("hf:timm/none"))
        self.assertIn("no revision 'v2'; check the branch, tag or commit after @", self.refused("hf:timm/tiny@v2"))
        self.assertIn("has no file 'x.bin' in revision 'main'; its files: 'config.json'", self.refused("hf:timm/tiny/x.bin"))
        for name in ("hf:tiny", "hf:timm/..", "hf:timm/tiny/../x", "hf:timm/tiny@../x", "hf:/tiny", "hf:a--b/c"):
            self.assertIn("is not a valid name of a repository on the hub; write hf:OWNER/NAME", self.refused(name))

    def test_names_the_answers_that_a_token_is_for(self):
        self.server.faults = [status(403, X_Error_Code="GatedRepo")]
        self.assertIn(f"access is restricted; ask for access at {self.server.address}/timm/tiny, then set HF_TOKEN", self.refused())
        self.server.token = "secret"
        self.assertIn("there is no such repository, or it is private; check the name, or set HF_TOKEN", self.refused())
        self.assertIn("the hub does not accept the token", self.refused(HF_TOKEN="wrong"))
        self.assertIn("HF_TOKEN: a token of the hub must not have spaces or", self.refused(HF_TOKEN="two words"))

    # Tokens, redirects, proxies

    def test_sends_a_token_to_the_hub_alone(self):
        self.server.token = "secret"
        self.assertEqual(self.fetch(HF_TOKEN="secret").read_bytes(), WEIGHTS)
        self.assertTrue(all(each["token"] == "Bearer secret" for each in self.server.seen))
        self.assertEqual([each["token"] for each in self.store.seen], [None])

    def test_reads_the_clients_token(self):
        self.server.token = "kept"
        (self.folder / "hf").mkdir()
        (self.folder / "hf/token").write_text("kept\n")
        self.fetch()
        self.refused(HF_HUB_DISABLE_IMPLICIT_TOKEN="1", HF_HUB_CACHE=str(self.folder / "none"))
        (self.folder / "other").write_text("kept")
        self.fetch(HF_HOME=str(self.folder / "empty"), HF_TOKEN_PATH=str(self.folder / "other"))

    def test_follows_a_renamed_repository(self):
        self.server.moved = {"timm/old": "timm/tiny"}
        self.assertEqual(self.fetch("hf:timm/old").read_bytes(), WEIGHTS)

    def test_stops_where_redirects_do_not_end(self):
        self.server.moved = {"timm/": "timm/"}
        self.assertIn("redirects more than 10 times", self.refused())

    def test_uses_encryption_but_on_this_machine(self):
        for endpoint in ("http://example.org", "http://127.0.0.1.example.org", "http://localhost.example.org:80"):
            self.assertIn("is not encrypted; use https", self.refused(HF_ENDPOINT=endpoint))
        self.assertIn("is not an https address", self.refused(HF_ENDPOINT="ftp://127.0.0.1"))
        self.assertIn("is not encrypted", self.refused("http://example.org/x.pth"))
        self.store.moved = {"/x.pth": "http://example.org/y.pth"}
        self.assertIn("is not encrypted", self.refused(self.store.address + "/x.pth"))

    def test_asks_the_proxy_without_the_token(self):
        asked = []
        proxy = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(proxy.close)

        def serve():
            while True:
                try:
                    connection = proxy.accept()[0]
                except OSError:
                    return
                asked.append(connection.recv(65536).decode())
                connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        self.refused(HF_ENDPOINT="https://hub.invalid", HF_TOKEN="secret",
                     https_proxy=f"http://127.0.0.1:{proxy.getsockname()[1]}")
        self.assertTrue(asked[0].startswith("CONNECT hub.invalid:443"), asked)
        self.assertNotIn("secret", "".join(asked))

    # Other addresses

    def test_keeps_files_of_other_addresses(self):
        self.store.plain["/w/a.pth"] = WEIGHTS
        self.server.faults = [cut_after(1000)]
        address = self.store.address + "/w/a.pth"
        path = self.fetch(address)
        self.assertEqual((path.name, path.read_bytes()), ("a.pth", WEIGHTS))
        self.assertTrue(path.is_relative_to(self.folder / "xdg/cachet/downloads/127.0.0.1"))
        self.assertEqual(sorted(each.name for each in path.parent.iterdir()), [".lock", "a.pth"])
        self.store.seen.clear()
        self.assertEqual(self.fetch(address), path)
        self.assertEqual(self.fetch(address, HF_HUB_OFFLINE="1"), path)
        self.assertEqual(self.store.seen, [])
        digest = hashlib.sha256(WEIGHTS).hexdigest()
        self.fetch(f"{address}#sha256={digest}")
        self.assertIn("the SHA-256 of the downloaded file is", self.refused(f"{address}#sha256={'0' * 64}"))
        self.assertIn("#sha256= must be followed by 64 hexadecimal digits", self.refused(f"{address}#sha256=12"))

    def test_does_not_complete_a_part_of_an_older_file(self):
        self.store.plain["/a.pth"] = WEIGHTS
        self.server.faults = [cut_after(1000)] + [cut_after(0)] * 8
        self.refused(self.store.address + "/a.pth")
        self.server.faults, self.store.plain["/a.pth"] = [], WEIGHTS[::-1]
        self.assertEqual(self.fetch(self.store.address + "/a.pth").read_bytes(), WEIGHTS[::-1])

    def test_says_what_is_wrong_with_an_address(self):
        self.assertIn("answers 404 (not found); check the address", self.refused(self.store.address + "/none.pth"))
        self.assertIn("does not end with the name of a file", self.refused(self.store.address + "/folder/"))
        self.assertIn("has a user name", self.refused("https://me:secret@example.org/a.pth"))
        self.assertNotIn("secret", self.refused("https://me:secret@example.org/a.pth"))
        page = lambda handler, content, *_: not handler.answer(200, b"<html>", Content_Type="text/html; charset=utf-8")
        self.store.plain["/a.pth"], self.server.faults = WEIGHTS, [page]
        self.assertIn("is a web page, not a file", self.refused(self.store.address + "/a.pth"))

    def test_several_processes_download_once(self):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            done = list(pool.map(lambda _: self.run_it("hf:timm/tiny"), range(3)))
        self.assertEqual([each.returncode for each in done], [0] * 3, done)
        self.assertEqual(len(self.store.requests()), 1)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
