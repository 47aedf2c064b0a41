// In charge of: creating DOM elements without a framework.

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

export function labelled(text: string, field: HTMLElement): HTMLLabelElement {
  return element('label', {}, element('span', { textContent: text }), field)
}
