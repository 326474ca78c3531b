#include "cachet/report/page/script.h"

namespace cachet::report {

// It must hold neither "</" nor "<!--", and no & or < outside of comparisons that a browser's HTML parser reads as
// text.
std::string_view script() {
  return R"js(
(() => {
  "use strict";
  const svgElement = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return element;
  };
  const shown = value => {
    const size = Math.abs(value);
    if (value !== 0 && (size < 1e-4 || size >= 1e7)) return value.toExponential(3);
    return String(Number(value.toPrecision(5)));
  };
  // The index of the nearest value of an ascending list.
  const nearest = (list, value) => {
    let low = 0, high = list.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (list[middle] < value) low = middle; else high = middle;
    }
    return Math.abs(list[low] - value) <= Math.abs(list[high] - value) ? low : high;
  };
  const fraction = (value, [least, most], log) =>
    log ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);

  // The mean of a value and those before it, each of which counts `weight` of the one after it.
  const smoothed = (values, weight) => {
    let sum = 0, weights = 0;
    return values.map(value => {
      sum = weight * sum + value;
      weights = weight * weights + 1;
      return sum / weights;
    });
  };

  // Draws the smoothed curves over those that were measured; no weight takes them away.
  function smooth(plot, weight) {
    plot.smooth = weight > 0 ? plot.data.series.map(series => smoothed(series.y, weight)) : null;
    plot.views.forEach((svg, view) => {
      const { x, y, log, frame: [left, top, right, bottom] } = plot.data.views[view];
      for (const old of svg.querySelectorAll("path.smooth")) old.remove();
      plot.data.series.forEach((series, index) => {
        const group = svg.querySelector(`g[data-series="${index}"]`);
        if (!group) return;
        group.classList.toggle("smoothed", weight > 0 && series.y.length > 2);
        if (!group.classList.contains("smoothed")) return;
        const starts = new Set(series.starts);
        let path = "";
        plot.smooth[index].forEach((value, at) => {
          if (log && !(value > 0)) return;
          path += path === "" || starts.has(at) ? "M" : "L";
          path += (left + fraction(series.x[at], x, false) * (right - left)).toFixed(1) + " ";
          path += (bottom - fraction(value, y, log) * (bottom - top)).toFixed(1);
        });
        group.append(svgElement("path", { class: "curve smooth", d: path }));
      });
    });
  }

  // One slider for all curves of the page.
  function smoothing(plots) {
    if (!plots.some(({ data }) => data.series.some(series => series.y.length > 2))) return;
    const label = document.createElement("label"), slider = document.createElement("input");
    label.className = "smoothing";
    Object.assign(slider, { type: "range", min: 0, max: 0.99, step: 0.01, value: 0, autocomplete: "off" });
    slider.addEventListener("input", () => {
      for (const plot of plots) {
        plot.clear();
        smooth(plot, Number(slider.value));
      }
    });
    label.append("smoothing", slider);
    (document.querySelector("nav") || document.querySelector("header")).append(label);
    return slider;
  }

  // The page of a run that is not finished is read again. What its reader opened, smoothed and scrolled to stays.
  function refreshing(slider) {
    const key = "cachet " + location.pathname, folds = [...document.querySelectorAll("details")];
    const stored = action => { try { return action(); } catch { return null; } };
    const kept = JSON.parse(stored(() => sessionStorage.getItem(key)) || "null");
    stored(() => sessionStorage.removeItem(key));
    if (kept) {
      folds.forEach((fold, index) => fold.open = kept.open.includes(index));
      if (slider && kept.smoothing) {
        slider.value = kept.smoothing;
        slider.dispatchEvent(new Event("input"));
      }
      scrollTo({ top: kept.top, behavior: "instant" });
    }
    const wait = document.querySelector('meta[name="refresh-seconds"]');
    if (!wait) return;
    const again = () => {
      if (document.hidden) return document.addEventListener("visibilitychange", again, { once: true });
      const open = folds.flatMap((fold, index) => fold.open ? [index] : []);
      stored(() => sessionStorage.setItem(key, JSON.stringify({ open, smoothing: slider ? slider.value : "", top: scrollY })));
      location.reload();
    };
    setTimeout(again, 1000 * Number(wait.content));
  }

  function readout(box) {
    const data = JSON.parse(box.querySelector("script").textContent);
    const views = [...box.querySelectorAll("svg.plot")];
    const plot = { data, views, smooth: null };
    const note = document.createElement("div");
    note.className = "readout";
    note.hidden = true;
    box.append(note);
    let marks = [], position = null;

    const clear = () => {
      for (const mark of marks) mark.remove();
      marks = [];
      note.hidden = true;
    };
    const line = (left, right, series) => {
      const row = document.createElement("p"), name = document.createElement(series ? "span" : "em");
      if (series) name.className = series;
      name.textContent = left;
      row.append(name, right);
      note.append(row);
    };
    const show = (svg, view, x) => {
      clear();
      const on = data.series.map((series, index) => ({ series, index })).filter(({ series, index }) => {
        const group = svg.querySelector(`g[data-series="${index}"]`);
        return series.x.length > 0 && group && !group.classList.contains("off");
      });
      if (on.length === 0) return;
      // All curves are read at the value of x that the nearest of them has.
      const candidates = on.map(({ series }) => series.x[nearest(series.x, x)]);
      position = candidates.reduce((a, b) => Math.abs(b - x) < Math.abs(a - x) ? b : a);
      const [left, top, right, bottom] = view.frame;
      const across = left + fraction(position, view.x, false) * (right - left);
      const add = mark => { svg.append(mark); marks.push(mark); };
      add(svgElement("line", { class: "cursor", x1: across, x2: across, y1: top, y2: bottom }));
      note.replaceChildren();
      line(data.x_label || "x", shown(position));
      for (const { series, index } of on) {
        const at = nearest(series.x, position), y = series.y[at];
        const colour = svg.querySelector(`g[data-series="${index}"]`).getAttribute("class");
        const spread = series.deviation ? " ± " + Number(series.deviation[at].toPrecision(2)) : "";
        const smooth = plot.smooth && series.y.length > 2 ? " (smoothed " + shown(plot.smooth[index][at]) + ")" : "";
        line(series.name, shown(y) + spread + smooth, colour);
        if (view.log && !(y > 0)) continue;
        add(svgElement("circle", { class: "spot " + colour, r: 4,
          cx: left + fraction(series.x[at], view.x, false) * (right - left),
          cy: bottom - fraction(y, view.y, view.log) * (bottom - top) }));
      }
      note.hidden = false;
      const scale = svg.clientWidth / svg.viewBox.baseVal.width, at = across * scale;
      const turn = at + note.offsetWidth + 18 > box.clientWidth;
      note.style.left = Math.max(0, turn ? at - note.offsetWidth - 12 : at + 12) + "px";
      note.style.top = top * scale + 4 + "px";
    };

    views.forEach((svg, index) => {
      const view = data.views[index];
      const [left, , right] = view.frame;
      // The title would pop up over the read-out: it stays as the drawing's name.
      const title = svg.querySelector("title");
      svg.setAttribute("aria-label", title.textContent);
      title.remove();
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("pointermove", event => {
        const area = svg.getBoundingClientRect();
        const across = (event.clientX - area.left) * svg.viewBox.baseVal.width / area.width;
        const part = Math.min(1, Math.max(0, (across - left) / (right - left)));
        show(svg, view, view.x[0] + part * (view.x[1] - view.x[0]));
      });
      svg.addEventListener("pointerleave", clear);
      svg.addEventListener("blur", clear);
      svg.addEventListener("keydown", event => {
        const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (event.key === "Escape") clear();
        if (!way) return;
        event.preventDefault();
        const step = (view.x[1] - view.x[0]) / 60;
        const from = position === null ? (way > 0 ? view.x[0] : view.x[1]) : position;
        let next = from + way * step;
        show(svg, view, Math.min(view.x[1], Math.max(view.x[0], next)));
        // Where points lie further apart than a step, continue to the next one.
        const all = data.series.flatMap(series => series.x).filter(x => way > 0 ? x > from : x < from);
        if (position === from && all.length > 0) {
          next = all.reduce((a, b) => Math.abs(b - from) < Math.abs(a - from) ? b : a);
          show(svg, view, next);
        }
      });
    });
    return Object.assign(plot, { clear });
  }

  document.documentElement.classList.add("js");
  const all = [];
  for (const figure of document.querySelectorAll("figure")) {
    const plots = [...figure.querySelectorAll(".plot-box")].map(box => readout(box));
    all.push(...plots);
    for (const key of figure.querySelectorAll(".key")) {
      key.addEventListener("click", () => {
        const on = key.getAttribute("aria-pressed") !== "true";
        key.setAttribute("aria-pressed", String(on));
        for (const part of figure.querySelectorAll(`[data-series="${key.dataset.toggle}"]`)) {
          part.classList.toggle("off", !on);
        }
        for (const { clear } of plots) clear();
      });
    }
    const scale = figure.querySelector(".scale");
    if (scale) scale.addEventListener("click", () => {
      for (const svg of figure.querySelectorAll("svg.plot")) svg.classList.toggle("hidden");
      scale.textContent = scale.textContent === "log scale" ? "linear scale" : "log scale";
      for (const { clear } of plots) clear();
    });
  }
  refreshing(smoothing(all));
})();
)js";
}

}  // namespace cachet::report
