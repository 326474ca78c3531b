"""Pages in a headless Chromium: what is cut off or wider than its box, and pictures of them. Chromium is driven through its
debugging pipe, so nothing but the browser itself is needed."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time
import unittest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = (1400, 400)  # a desktop and a phone
TIMEOUT = 120

# Returns a line for each thing that a reader cannot see: a page wider than its window, an element that reaches out of the window, text
# that is wider than its box and cut there, letters of a drawing outside of it. What scrolls sideways is in SCROLLED.
MISTAKES = r"""(() => {
  const found = [], tolerance = 1.5, width = document.documentElement.clientWidth;
  const named = element => {
    const own = element.tagName.toLowerCase() + (element.getAttribute("class") ? "." + element.getAttribute("class").replace(/ /g, ".") : "");
    const figure = element.closest("figure, section, nav, header, dl");
    const title = figure && figure.querySelector("figcaption, h2, dt");
    const text = (element.textContent || "").trim().slice(0, 40);
    return own + (text ? " '" + text + "'" : "") + (title && title !== element ? " of '" + title.textContent.slice(0, 40) + "'" : "");
  };
  if (document.documentElement.scrollWidth > width + tolerance)
    found.push("the page is " + document.documentElement.scrollWidth + " pixels wide in a window of " + width);
  const shown = element => {
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    return style.display !== "none" && style.visibility !== "hidden" && box.width > 0 && box.height > 0 && element.checkVisibility();
  };
  const scrolls = element => {
    for (let e = element.parentElement; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (e !== document.body && e !== document.documentElement && /auto|scroll/.test(style.overflowX) && e.scrollWidth > e.clientWidth + tolerance) return true;
    }
    return false;
  };
  for (const element of document.body.querySelectorAll("*")) {
    if (["SCRIPT", "STYLE", "TITLE", "DESC", "title", "desc"].includes(element.tagName) || !shown(element)) continue;
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    if (!scrolls(element) && (box.right > width + tolerance || box.left < -tolerance))
      found.push(named(element) + " reaches from " + Math.round(box.left) + " to " + Math.round(box.right) + " in a window of " + width);
    if (element instanceof SVGElement) {
      if (element.tagName !== "text" || scrolls(element)) continue;
      const drawing = element.ownerSVGElement.getBoundingClientRect(), card = element.closest("figure").getBoundingClientRect();
      if (box.right > card.right + tolerance || box.left < card.left - tolerance || box.bottom > card.bottom + tolerance)
        found.push(named(element) + " reaches out of its card");
      else if (box.right > drawing.right + 3 || box.left < drawing.left - 3)
        found.push(named(element) + " reaches " + Math.round(Math.max(box.right - drawing.right, drawing.left - box.left)) + " pixels out of its drawing");
      continue;
    }
    if (element.scrollWidth > element.clientWidth + tolerance && element.clientWidth > 0 && style.display !== "inline") {
      const marked = element.matches(".scroll, pre") && /auto|scroll/.test(style.overflowX);
      if (!marked) found.push(named(element) + " is " + element.scrollWidth + " pixels wide in a box of " + element.clientWidth);
    }
    // A child that is drawn over the right edge of its card.
    const card = element.closest("figure");
    if (card && card !== element && !scrolls(element)) {
      const edge = card.getBoundingClientRect();
      if (box.right > edge.right + tolerance) found.push(named(element) + " reaches out of its card");
    }
  }
  return found;
})()"""

# Tables that scroll sideways, by their titles: readers see a part of them alone.
SCROLLED = r"""[...document.querySelectorAll(".scroll")].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .map(e => (e.getAttribute("aria-label") || "") + ": " + e.scrollWidth + " in " + e.clientWidth)"""


class Browser:
    """`with Browser() as browser:` starts one; it ends with the block."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self._to = os.pipe()
        self._from, from_child = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        shell = f"exec 3<&{to_child} 4>&{from_child}; exec \"$0\" \"$@\""
        self._process = subprocess.Popen(
            ["bash", "-c", shell, PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--remote-debugging-pipe", f"--user-data-dir={self._folder.name}", "about:blank"],
            pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self._buffer = b""
        self._number = 0
        self._session = None
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self._session = None
            self._ask("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()

    def _message(self, deadline):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise RuntimeError("the browser does not answer")
            part = os.read(self._from, 1 << 16)
            if not part:
                raise RuntimeError("the browser ended")
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def _ask(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self._to, text):]
        deadline = time.monotonic() + TIMEOUT
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def value(self, expression):
        """The value of an expression of the open page's script."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression[:80]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, expression):
        """Waits until this is true on the open page. A page that is read again may not answer in between."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            try:
                if self.value(expression):
                    return
            except RuntimeError:
                pass
            if time.monotonic() > deadline:
                raise RuntimeError(f"never: {expression}")
            time.sleep(0.05)

    def open(self, page, width, dark=False):
        """Opens a file at a width of the window, and waits until it is laid out."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        self._ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self._ask("Page.navigate", url=pathlib.Path(page).resolve().as_uri())
        self.wait_for("document.readyState === 'complete' && location.protocol === 'file:'")
        self.value("(async () => { for (const i of document.images) i.loading = 'eager'; await document.fonts.ready; "
                   "await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); })()")

    def mistakes(self, opened_folds=True):
        """Lines on what is cut off or wider than its box on the open page; folds are opened first."""
        if opened_folds:
            self.value("for (const fold of document.querySelectorAll('details')) fold.open = true")
        return self.value(MISTAKES)

    def scrolled(self):
        return self.value(SCROLLED)

    def picture(self, file, most_height=16000):
        """Writes the whole open page as a PNG."""
        width, height = self.value("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        shot = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": width, "height": min(height, most_height), "scale": 1})
        pathlib.Path(file).write_bytes(base64.b64decode(shot["data"]))


def require_browser():
    """Skips the test, by name, on a machine without Chromium."""
    if PROGRAM is None:
        raise unittest.SkipTest("chromium is not installed (Debian: apt-get install chromium); no page was opened")


def assert_nothing_is_cut(test, browser, page, widths=WIDTHS):
    """Opens the page at these widths, with its folds closed and open, and fails with a line for each thing that is cut off, wider than its
    box, or that scrolls sideways."""
    for width in widths:
        for folds in (False, True):
            with test.subTest(page=pathlib.Path(page).name, width=width, folds="open" if folds else "closed"):
                browser.open(page, width)
                test.assertEqual(browser.mistakes(opened_folds=folds) + browser.scrolled(), [])
