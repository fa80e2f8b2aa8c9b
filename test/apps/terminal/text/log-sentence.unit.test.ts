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

it('a line of a lower level stays as it is, and a failure of the stages is left out', () => {
  const [info, fatal] = shown((log) => {
    log.info({ topic: 't' }, 'ready')
    log.fatal('a stage failed')
  })
  expect(JSON.parse(info ?? '')).toMatchObject({ msg: 'ready', topic: 't' })
  expect(fatal).toBeUndefined()
})
