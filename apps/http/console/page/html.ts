// The templates of the console. Each text and each attribute shows its invisible characters as
// numbers, and becomes a text node or an attribute. So foreign text is never markup.

import htm from 'htm'
import { type ComponentChild, h, type VNode } from 'preact'
import { visible } from '../../../report/page/element.ts'

export type Props = Record<string, unknown>

/** The values of inputs stay as typed: the server gets them. */
const asTyped = new Set(['value', 'key'])

function element(type: unknown, props: Props | null, ...children: unknown[]): VNode {
  if (typeof type !== 'string') return h(type as never, props, ...(children as ComponentChild[]))
  const shown = Object.entries(props ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' && !asTyped.has(name) ? visible(value) : value,
  ])
  return h(type, Object.fromEntries(shown), ...children.map(shownChild))
}

function shownChild(child: unknown): ComponentChild {
  if (typeof child === 'string') return visible(child)
  return Array.isArray(child) ? child.map(shownChild) : (child as ComponentChild)
}

type Template = (strings: TemplateStringsArray, ...values: unknown[]) => VNode

/** The types of htm are those of its CommonJS build, which a browser does not load. */
export const html: Template = (
  htm as unknown as { bind: (create: typeof element) => Template }
).bind(element)
