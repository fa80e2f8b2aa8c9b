import { describe, expect, it } from '@jest/globals'
import { pageOf } from '../../../apps/history/inspect/print-timeline.ts'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import type { Response } from '../../../shared/contract/messages.ts'
import { conversationLog, exec, response } from './conversation-log.ts'

const written = "{'name': 'exec', 'arguments': {'command': 'ls'}}"

function shown(fields: Partial<Response>): string {
  const log = conversationLog()
  const reply = response(fields)
  log.begin({ text: 'List the files.' })
  log.ask(1)
  log.attempt(1, 'a1')
  log.part(1, 'a1', written, 'text')
  log.answer(1, reply)
  log.check(1, reply, [])
  const { lines } = pageOf(timelineOf('c', log.records, { reasoning: false }), {
    columns: 100,
    full: false,
  })
  return lines.map(({ text }) => text).join('\n')
}

describe('calls that the model wrote as text', () => {
  it('are shown with their original text, the dialect and the repairs', () => {
    const calls = [exec({ source: 'text' })]
    const page = shown({
      calls,
      textCalls: { dialect: 'json', repairs: ['single-quotes'], fault: null, held: null },
    })
    expect(page).toMatch(
      /calls +were recovered from its text \(json, repaired: single-quotes\):\n +\| \{'name': 'exec'/,
    )
    expect(page).toContain('the model wrote the call as text')
  })

  it('are shown as plain text with the setting and the reason if they did not run', () => {
    const page = shown({
      text: written,
      textCalls: { dialect: 'json', repairs: [], fault: 'only native calls run', held: 'tell' },
    })
    expect(page.replaceAll(/\s+/g, ' ')).toContain(
      'no call the text holds a call (json), which did not run (textCalls: tell): only native calls run',
    )
  })

  it('are shown as plain text with the reason if they cannot run', () => {
    const page = shown({
      text: written,
      textCalls: { dialect: 'json', repairs: [], fault: "there is no tool 'exec'", held: null },
    })
    expect(page).toMatch(/says +\{'name': 'exec'/)
    expect(page.replaceAll(/\s+/g, ' ')).toContain(
      "no call the text looks like a call (json), and could not run: there is no tool 'exec'",
    )
  })
})
