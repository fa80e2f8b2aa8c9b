// The width of the demo's output.

import { stripVTControlCharacters } from 'node:util'
import { expect, it } from '@jest/globals'
import { createScreen } from '../../../apps/demo/screen.ts'
import { output } from '../../support/output.ts'

function shown(columns: number | undefined): string {
  const { stream, text } = output()
  const size = columns === undefined ? {} : { isTTY: true, columns }
  const screen = createScreen(Object.assign(stream, size) as NodeJS.WriteStream)
  screen.round(
    12,
    "exec({}) ran and failed: the command is missing; give one: missing required field 'command'",
  )
  screen.next('reflex', undefined)
  return text()
}

it.each([60, 80, 120])('the demo breaks its lines between words at %d columns', (columns) => {
  const words = (text: string) => text.split(/\s+/)
  const plain = stripVTControlCharacters(shown(columns))
  for (const line of plain.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
  expect(words(plain)).toEqual(words(shown(undefined)))
})
