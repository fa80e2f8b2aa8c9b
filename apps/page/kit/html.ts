// The element builder of both pages: templates that make preact's elements. Each text and each
// attribute shows its invisible characters as numbers, and becomes a text node or an attribute. So
// foreign text is never markup, hides nothing and reverses nothing.

import htm from 'htm'
import { type Attributes, Component, type ComponentChild, h, type VNode } from 'preact'
import { printableLines } from '../../terminal/text/printable.ts'

export type Child = ComponentChild

/** The values of inputs stay as typed: the server gets them. */
const asTyped = new Set(['value', 'key'])

function element(type: unknown, props: Record<string, unknown> | null, ...children: Child[]) {
  if (typeof type !== 'string') return h(type as never, props as Attributes, ...children)
  for (const name in props)
    if (typeof props[name] === 'string' && !asTyped.has(name)) props[name] = visible(props[name])
  return h(type, props as Attributes, ...children.map(shownChild))
}

function shownChild(child: Child): Child {
  if (typeof child === 'string') return visible(child)
  return Array.isArray(child) ? child.map(shownChild) : child
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

type Template = (strings: TemplateStringsArray, ...values: unknown[]) => VNode

/** The types of htm are those of its CommonJS build, which a browser does not load. */
export const html: Template = (
  htm as unknown as { bind: (create: typeof element) => Template }
).bind(element)

/** Content that is not drawn again: as long as the page has the same result of this function. */
export function fixed(content: Child, key?: number): Child {
  return html`<${Fixed} key=${key} content=${content} />`
}

const Fixed = ({ content }: { content: Child }): Child => shownChild(content)

/** A component with one value. `view` gets the value and a function that replaces it. */
export function stateful<Props, Value>(
  first: Value,
  view: (props: Props, value: Value, set: (value: Value) => void) => Child,
) {
  return class extends Component<Props, { value: Value }> {
    override state = { value: first }

    override render(): Child {
      return shownChild(view(this.props, this.state.value, (value) => this.setState({ value })))
    }
  }
}
