"use strict";
// Numbers as people read them, and elements: their text is only ever text, so that no name is taken for markup.
const find = (id) => document.getElementById(id);

function percent(share) {
  if (share > 0 && share < 5e-5) return "< 0.01%";
  if (share >= 0.9995 && share < 1) return "> 99.9%";
  return `${Number((100 * share).toFixed(share < 0.01 ? 2 : 1))}%`;
}

const whole = (number) => Math.round(number).toLocaleString("en");
const brief = (number) => String(Number(number.toPrecision(7)));

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
