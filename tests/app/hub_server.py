"""A server on this machine that answers as the Hugging Face hub does, and as badly as servers can."""
import hashlib
import http.server
import json
import socket
import threading
import urllib.parse

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_digest(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Server:
    """Serves the repositories ({"owner/name": {file: bytes}}) and the files of `plain` ({path: bytes}). Files of more than 1,000 bytes are
    redirected to `store`, a server of another origin. `faults` are functions that see a request first, at the store those of this server:
    one that returns true has answered, and is removed."""

    def __init__(self, repositories=None, store=None):
        self.repositories, self.plain, self.faults, self.seen, self.store = repositories or {}, {}, [], [], store
        self.token, self.moved, self.etags, self.sizes, self.hub = None, {}, {}, {}, self
        if store:
            store.hub = self
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.http.handle_error = lambda *_: None  # of connections that clients close
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.http.server_port}"

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def fails(self, *request):
        """Whether a fault has answered the request."""
        for place, fault in enumerate(self.faults):
            del self.faults[place]  # before the client sees the end of the connection
            if fault(*request):
                return True
            self.faults.insert(place, fault)
        return False

    def requests(self, method="GET"):
        return [each for each in self.seen if each["method"] == method]

    def handler(server):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *words):
                pass

            def answer(self, status, content=b"", length=None, **headers):
                self.send_response(status)
                self.send_header("Content-Length", str(len(content) if length is None else length))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            def cut(self):
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True

            def send_file(self, content, **headers):
                start = 0
                asked = self.headers.get("Range")
                if asked and self.headers.get("If-Range") in (None, headers.get("ETag")):
                    start = int(asked.removeprefix("bytes=").rstrip("-"))
                    if start >= len(content):
                        return self.answer(416)
                    headers["Content_Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
                if server.hub.fails(self, content[start:], 206 if start else 200, headers):
                    return None
                return self.answer(206 if start else 200, content[start:], **headers)

            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                path = urllib.parse.unquote(self.path.split("?")[0])
                server.seen.append({"method": self.command, "path": path, "token": self.headers.get("Authorization"),
                                    "range": self.headers.get("Range")})
                for old, new in server.moved.items():
                    if old in path:
                        return self.answer(307, Location=self.path.replace(old, new))
                if path in server.plain:
                    return self.send_file(server.plain[path], ETag='"%s"' % hashlib.md5(server.plain[path]).hexdigest())
                if server.token and self.headers.get("Authorization") != f"Bearer {server.token}":
                    return self.answer(401, X_Error_Code="RepoNotFound")
                if path.startswith("/api/models/"):
                    return self.list_files(path)
                return self.resolve(path)

            def list_files(self, path):
                name, _, revision = path.removeprefix("/api/models/").partition("/revision/")
                if server.fails(self, None, 0, {}):
                    return None
                if name not in server.repositories:
                    return self.answer(404, X_Error_Code="RepoNotFound")
                if revision not in ("main", "v1", "refs/pr/1", COMMIT):
                    return self.answer(404, X_Error_Code="RevisionNotFound")
                siblings = [{"rfilename": file} for file in server.repositories[name]]
                return self.answer(200, json.dumps({"id": name, "sha": COMMIT, "siblings": siblings}).encode(),
                                   Content_Type="application/json")

            def resolve(self, path):
                name, _, rest = path.strip("/").partition("/resolve/")
                file = rest.partition("/")[2]
                files = server.repositories.get(name, {})
                if file not in files:
                    code = "EntryNotFound" if files else "RepoNotFound"
                    return self.answer(404, X_Error_Code=code, X_Repo_Commit=COMMIT)
                content = files[file]
                etag, size = server.etags.get(file), server.sizes.get(file, len(content))
                if len(content) <= 1000:
                    headers = {"ETag": f'"{etag or git_digest(content)}"', "X_Repo_Commit": COMMIT}
                    return self.answer(200, content, **headers) if self.command == "HEAD" else self.send_file(content, **headers)
                etag = etag or hashlib.sha256(content).hexdigest()
                headers = {"X_Repo_Commit": COMMIT, "X_Linked_ETag": f'"{etag}"', "X_Linked_Size": str(size)}
                target = f"/blob-store/{etag}"
                server.store.plain[target] = content
                return self.answer(302, Location=server.store.address + target, **headers)

        return Handler


def cut_after(count):
    """A fault: this many bytes of a file of more than 1,000, then the end of the connection."""

    def fault(handler, content, status, headers):
        if content is None or len(content) <= max(count, 1000):
            return False
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content[:count])
        handler.cut()
        return True

    return fault


def status(code, **headers):
    """A fault: this status instead of an answer."""

    def fault(handler, content, _, __):
        handler.answer(code, **headers)
        return True

    return fault
