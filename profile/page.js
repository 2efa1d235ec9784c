/* SPDX-License-Identifier: Apache-2.0
 * A button at each curve puts uPlot in the place of the drawing: drag to zoom, double click to go
 * back, values under the pointer. Without this script the drawings stay. */
(function () {
    "use strict";
    var style = function (name) {
        return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    };
    var bytes = function (v) {
        var units = ["", " KiB", " MiB", " GiB"], i = 0;
        while (v >= 1024 && i < 3) {
            v /= 1024;
            i += 1;
        }
        return +v.toPrecision(4) + units[i];
    };
    var show = function (scale, v) {
        return v === null || v === undefined ? "" :
            scale === "BYTES" ? bytes(v) : String(+v.toPrecision(4));
    };
    var axis = function (scale, title) {
        return {
            label: title, stroke: style("--soft"), grid: { stroke: style("--rule"), width: 1 },
            ticks: { stroke: style("--rule"), width: 1 }, size: 64,
            values: function (u, list) {
                return list.map(function (v) { return v === null ? "" : show(scale, v); });
            }
        };
    };
    var kind = function (scale) {
        return { time: false, distr: scale === "LINEAR" ? 1 : 3,
                 log: scale === "LOG" ? 10 : 2 };
    };
    var draw = function (place, data) {
        var tables = data.series.map(function (s) { return [s.x, s.value]; });
        var options = {
            width: Math.max(place.clientWidth, 560), height: 420,
            scales: { x: kind(data.xScale), y: kind(data.yScale) },
            axes: [axis(data.xScale, data.x), axis(data.yScale, data.y)],
            series: [{ label: data.x, value: function (u, v) { return show(data.xScale, v); } }]
                .concat(data.series.map(function (s, i) {
                    return { label: s.name, stroke: style("--c" + i), width: 2, spanGaps: true,
                             value: function (u, v) { return show(data.yScale, v); } };
                }))
        };
        return new uPlot(options, uPlot.join(tables), place);
    };
    document.querySelectorAll("section[data-curve]").forEach(function (section) {
        var data = JSON.parse(section.querySelector("script").textContent);
        var picture = section.querySelector("svg"), plot = null;
        var place = document.createElement("div"), button = document.createElement("button");
        button.textContent = "zoom and hover";
        place.className = "plot";
        section.insertBefore(button, section.firstChild);
        picture.parentNode.appendChild(place);
        button.addEventListener("click", function () {
            if (plot !== null) {
                plot.destroy();
                plot = null;
            } else {
                plot = draw(place, data);
            }
            picture.style.display = plot === null ? "" : "none";
            button.textContent = plot === null ? "zoom and hover" : "drawing";
        });
        if (location.hash === "#zoom") {
            button.click();
        }
    });
}());
