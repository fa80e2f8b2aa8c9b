// The answer of an MCP server as one text, for the model and for the loop rules. Pure.
// Two answers with different content have different texts: the rules compare nothing
// else. Data that no model reads is a note with its hash.

import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { limits } from '../../contract/limits.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { cutToBytes } from '../../lib/text-cut.ts'
import { toolFailed } from '../../model-texts/tools.ts'
import { keptBytes } from '../kept-output.ts'
import type { ToolEnding } from '../tool.ts'
import { notes } from '../tool-endings.ts'

/**
 * The text of the answer, which the loop rules compare. `isForwarded`: a host gets the whole answer,
 * so a cut text ends with its hash.
 */
export function answered(
  answer: CallToolResult,
  { outputBytesMax, isForwarded }: { outputBytesMax: number | undefined; isForwarded: boolean },
): ToolEnding {
  const whole = wholeText(answer)
  const text = cutToBytes(whole, keptBytes(outputBytesMax))
  const isCut = text.length < whole.length
  const bytes = isCut ? Buffer.byteLength(whole) : 0
  const identity = isCut && isForwarded ? `\n[hash ${letterHash(whole)}]` : ''
  const shown = text + notes({ text, bytes, cut: isCut, replaced: false }) + identity
  return answer.isError === true
    ? { status: 'error', text: shown || toolFailed, reason: 'the tool failed' }
    : { status: 'ok', text: shown, reason: '' }
}

/** Not cut. */
export function wholeText({ content = [], structuredContent }: CallToolResult): string {
  const blocks = content.map(blockText)
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  // A server that gives both should write the same value as text, and not every server does.
  const structured =
    structuredContent === undefined || isWrittenIn(texts, structuredContent)
      ? []
      : [JSON.stringify(structuredContent)]
  return [...blocks, ...structured].join('\n').toWellFormed()
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource': {
      const { uri, mimeType } = block.resource
      if ('text' in block.resource) return `[resource: ${uri}]\n${block.resource.text}`
      return leftOut(`resource ${uri}`, mimeType, block.resource.blob)
    }
    case 'resource_link': {
      const { uri, name, title, description, mimeType, size } = block
      const bytes = size === undefined ? undefined : `${size} bytes`
      return `[link: ${present(uri, name, title, description, mimeType, bytes)}]`
    }
    default:
      return leftOut(block.type, block.mimeType, block.data)
  }
}

function leftOut(kind: string, mimeType: string | undefined, base64: string): string {
  const bytes = `${Buffer.byteLength(base64, 'base64')} bytes`
  return `[${kind} content is left out: ${present(mimeType, bytes, `hash ${letterHash(base64)}`)}]`
}

const present = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(', ')

/** Without digits: the loop rules mask mixed letters and digits as a random id. */
export function letterHash(data: string): string {
  const digits = hash('sha256', data).slice(0, 16)
  return digits.replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)))
}

/**
 * Whether the texts have the whole value: as JSON, or as the only member of an object, which is how
 * servers wrap a text, a number or a list. A similar text is not enough.
 */
function isWrittenIn(texts: readonly string[], value: unknown): boolean {
  if (texts.some((text) => isTextOf(text, value))) return true
  const members = isObject(value) ? Object.values(value) : []
  if (isObject(value) && members.length === 0) return texts.length > 0 // it says nothing
  if (members.length !== 1) return false
  const [only] = members
  if (texts.some((text) => isTextOf(text, only))) return true
  return (
    Array.isArray(only) &&
    only.length > 0 &&
    only.length === texts.length &&
    only.every((item, i) => isTextOf(texts[i] ?? '', item))
  )
}

function isTextOf(text: string, value: unknown): boolean {
  if (text === value) return true
  if (typeof value === 'string' && !text.startsWith('"')) return false
  return isDeepStrictEqual(boundedJson(text, limits.jsonDepthMax), value)
}
