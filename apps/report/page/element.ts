// The only way to add content to the page. Texts become text nodes, with invisible characters shown
// as numbers. So foreign text is never markup, hides nothing and reverses nothing (PAGE-HTML-1).

import { printableLines } from '../../terminal/text/printable.ts'

export type Child = Node | string | null | undefined | false | Child[]

/** `on`: listeners. All other keys are attributes; false and undefined: not set. */
type Props = {
  class?: string
  on?: Record<string, (event: Event) => void>
  [attribute: string]: unknown
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag)
  setProps(node, props)
  append(node, children)
  return node
}

export function graphic<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props,
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag)
  setProps(node, props)
  append(node, children)
  return node
}

/** With invisible characters as numbers. */
export function visible(text: string): string {
  return isPlain.test(text) ? text : printableLines(text).join('\n')
}

/**
 * Most texts cannot have invisible characters. To check each character costs more than the rest of
 * a row.
 */
const isPlain = /^[\n\x20-\x7e]*$/

/** Replaces the content. */
export function fill(node: Element, ...children: Child[]): void {
  node.replaceChildren()
  append(node, children)
}

function setProps(node: Element, { on = {}, ...attributes }: Props): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    node.setAttribute(name, value === true ? '' : visible(String(value)))
  }
  for (const [type, listener] of Object.entries(on)) node.addEventListener(type, listener)
}

function append(node: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    if (Array.isArray(child)) append(node, child)
    else node.append(typeof child === 'string' ? document.createTextNode(visible(child)) : child)
  }
}
