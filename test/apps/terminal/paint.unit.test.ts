import { Writable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { columnsOfOutput, painted } from '../../../apps/terminal/paint.ts'

const stream = (fields: { isTTY: boolean; columns?: number }) =>
  Object.assign(new Writable(), fields) as unknown as NodeJS.WriteStream
const pipe = stream({ isTTY: false })

it('piped output has no colour', () => {
  expect(painted(pipe, 'bad', 'failed')).toBe('failed')
})

describe('columns', () => {
  it('are 80 by default and those of the terminal if there is one, within a readable limit', () => {
    expect(columnsOfOutput(pipe)).toBe(80)
    expect(columnsOfOutput(stream({ isTTY: true, columns: 60 }))).toBe(60)
    expect(columnsOfOutput(stream({ isTTY: true, columns: 132 }))).toBe(100)
    expect(columnsOfOutput(stream({ isTTY: true, columns: 0 }))).toBe(80)
  })
})
