// Building elements: always as nodes, never as HTML, so that text stays text.

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  const { data = {}, aria = {}, ...rest } = properties;
  Object.assign(made, rest);
  Object.assign(made.dataset, data);
  for (const [key, value] of Object.entries(aria)) made.setAttribute(`aria-${key}`, value);
  made.append(...children);
  return made;
}
