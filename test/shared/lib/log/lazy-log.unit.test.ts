import { expect, it } from '@jest/globals'
import { pino } from 'pino'
import { lazyChild } from '../../../../shared/lib/log/lazy-log.ts'

function logAt(level: string) {
  const lines: object[] = []
  const made: object[] = []
  const log = pino(
    { level, base: undefined, onChild: (child) => made.push(child) },
    { write: (line) => lines.push(JSON.parse(line)) },
  )
  return { log, lines, made }
}

it('a line of a lazy child has the bindings and its own fields', () => {
  const { log, lines, made } = logAt('info')
  const child = lazyChild(log, { turn: 3 })
  child.info({ code: 'a' }, 'first')
  child.warn({ code: 'b' }, 'second')
  expect(lines).toMatchObject([
    { level: 30, turn: 3, code: 'a', msg: 'first' },
    { level: 40, turn: 3, code: 'b', msg: 'second' },
  ])
  expect(made).toHaveLength(1)
})

it('a lazy child is not made for a line below the level of the log', () => {
  const { log, lines, made } = logAt('warn')
  const child = lazyChild(log, { turn: 3 })
  child.debug({}, 'first')
  child.info({}, 'second')
  expect([lines, made]).toEqual([[], []])
})
