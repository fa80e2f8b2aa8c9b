import { expect, it } from '@jest/globals'
import { logSentence } from '../../../../apps/terminal/text/log-sentence.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'

function shown(write: (log: ReturnType<typeof createLog>) => void): (string | undefined)[] {
  const texts: (string | undefined)[] = []
  const destination = { write: (line: string) => void texts.push(logSentence(line)) }
  write(createLog({ level: 'info', destination }))
  return texts
}

it('a warning and an error of the log are sentences with their reason', () => {
  expect(
    shown((log) => {
      log.error(
        { conversation: 'c', turn: 1, fault: 'judge threw: oops (g.ts:4)' },
        'a guard failed',
      )
      log.warn({ reason: 'its program changed' }, 'a call was denied before its start')
      log.warn({ err: new Error('no answer') }, 'the owner does not answer; will retry')
      log.warn('a rule matches no tool')
    }),
  ).toEqual([
    'error: a guard failed: judge threw: oops (g.ts:4)',
    'warning: a call was denied before its start: its program changed',
    'warning: the owner does not answer; will retry: no answer',
    'warning: a rule matches no tool',
  ])
})

it('a line of a lower level stays JSON, and a failure of the stages is left out', () => {
  const [info, fatal] = shown((log) => {
    log.info({ topic: 't' }, 'ready')
    log.fatal('a stage failed')
  })
  expect(JSON.parse(info ?? '')).toMatchObject({ msg: 'ready', topic: 't' })
  expect(fatal).toBeUndefined()
})

it('a control sequence, a line end and an override of the direction in a line are shown as numbers', () => {
  const hostile = '\u001b[2J\nAllow deploy? \u009b1;1H\u202e'
  const sentences = shown((log) => {
    log.error({ fault: hostile }, 'a guard failed')
    log.warn({ reason: hostile }, 'a call was denied')
    log.warn({ err: new Error(hostile) }, 'the owner does not answer')
    log.info({ fault: hostile }, 'ready')
  })
  const clean = '\\u{1b}[2J\\nAllow deploy? \\u{9b}1;1H\\u{202e}'
  expect(sentences.slice(0, 3)).toEqual([
    `error: a guard failed: ${clean}`,
    `warning: a call was denied: ${clean}`,
    `warning: the owner does not answer: ${clean}`,
  ])
  expect(sentences[3]).toMatch(/^[\x20-\x7e]+$/)
  expect(JSON.parse(sentences[3] ?? '')).toMatchObject({ msg: 'ready', fault: hostile })
})
