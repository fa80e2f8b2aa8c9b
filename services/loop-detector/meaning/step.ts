// A call that goes on from where the call before it ended: `undo`, `scroll`, the key Tab. So the same
// call does something else each time. Its short answer only acknowledges it, and shows no view that
// stayed the same.

import { isObject } from '../../../shared/lib/json/json-object.ts'
import { wordsOf } from '../evidence/effect.ts'

type Sent = { tool: string; raw: string; value: unknown; text: string }

export function isStep({ tool, raw, value, text }: Sent): boolean {
  if (text.length >= viewCharsMin || !isObject(value)) return false
  const words = wordsOf(`${tool} ${typeof value.action === 'string' ? value.action : ''}`)
  if (isScroll({ tool, raw }) || words.some((word) => steps.has(word))) return true
  return (
    words.some((word) => keyboards.has(word)) &&
    Object.values(value).some((member) => typeof member === 'string' && movingKey.test(member))
  )
}

/** Whether a call only moves the view. The view shows whether something came. */
export function isScroll({ tool, raw }: { tool: string; raw: string }): boolean {
  return scrolls.test(tool) || (raw.includes('scroll') && /"action" ?: ?"scroll/.test(raw))
}

/** Longer answers show what the step led to. */
const viewCharsMin = 64

const steps: ReadonlySet<string> = new Set(['undo', 'redo', 'scroll'])
const scrolls = /scroll|mouse_?wheel|(?:^|_)page_?(?:up|down)(?![a-z])/i
const keyboards: ReadonlySet<string> = new Set(['press', 'key', 'keys', 'keyboard'])
const movingKey =
  /^(?:(?:shift|ctrl|control|alt|meta)\+)?(?:tab|(?:arrow)?(?:up|down|left|right)|page_?(?:up|down)|backspace|delete)$/i
