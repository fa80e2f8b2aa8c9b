// Places in a real folder, of this process and of others.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  openProcessPlace,
  type ProcessPlace,
} from '../../../../../shared/bus/kafka/table/process-place.ts'
import { handClock } from '../../hand-clock.ts'

const log = pino({ level: 'silent' })
const program = fileURLToPath(new URL('../place-process.ts', import.meta.url))
let folder = ''
let clock = handClock()
let places: ProcessPlace[] = []
let children: ChildProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-place-'))
  clock = handClock()
})
afterEach(() => {
  for (const place of places) place.close()
  for (const child of children) child.kill('SIGKILL')
  places = []
  children = []
  rmSync(folder, { recursive: true })
})

function open(in_ = folder): ProcessPlace {
  const place = openProcessPlace({ path: join(in_, 'process'), clock, log }) as ProcessPlace
  places.push(place)
  return place
}

function close(place: ProcessPlace): void {
  place.close()
  places = places.filter((each) => each !== place)
}

/** Another process that acts as `owner`. */
async function start(owner: string): Promise<{ name: string; kill(): Promise<void> }> {
  const child = spawn(process.execPath, [program, join(folder, 'process'), owner], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const closed = once(child, 'close')
  const [name] = (await once(createInterface(child.stdout), 'line')) as [string]
  return {
    name,
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

describe('the place of a process', () => {
  it('has the same name for the next process, and another for a process next to it', () => {
    const [one, two] = [open(), open()]
    expect(one.name).not.toBe(two.name)
    for (const each of [one, two]) close(each)
    expect([open().name, open().name]).toEqual([one.name, two.name])
  })

  it('proves the end of a killed process, and nothing while it runs', async () => {
    const killed = await start('first')
    const beside = open()
    expect(beside.hasEnded('first')).toBe(false)
    await killed.kill()
    const next = open()
    expect(next.name).toBe(killed.name)
    expect(next.hasEnded('first')).toBe(true)
    expect(next.hasEnded('never seen')).toBe(false)
  })

  it('proves the end of a process next to it that nobody has started again', async () => {
    const beside = await start('beside')
    const staying = open()
    expect(staying.hasEnded('beside')).toBe(false)
    await beside.kill()
    clock.advance(1_000)
    expect(staying.hasEnded('beside')).toBe(true)
  })

  it('proves the end of a process that ran for weeks, until a week after its end', () => {
    const week = 7 * 24 * 60 * 60 * 1000
    const first = open()
    first.addOwner('old')
    clock.advance(3 * week)
    close(first)
    for (const isKnown of [true, true, false]) {
      const next = open()
      expect(next.hasEnded('old')).toBe(isKnown)
      close(next)
      clock.advance(week * 0.9)
    }
  })

  it('proves nothing about its own owners', () => {
    const place = open()
    place.addOwner('mine')
    clock.advance(1_000)
    expect([place.hasEnded('mine'), open().hasEnded('mine')]).toEqual([false, false])
  })

  it('has another name in a copy of its file, which proves nothing', () => {
    const original = open()
    original.addOwner('living')
    close(original) // all is in the file now
    const copy = mkdtempSync(join(tmpdir(), 'weir-place-'))
    try {
      copyFileSync(join(folder, 'process-0.db'), join(copy, 'process-0.db'))
      const copied = open(copy)
      expect(copied.name).not.toBe(original.name)
      expect(copied.hasEnded('living')).toBe(false)
      close(copied)
    } finally {
      rmSync(copy, { recursive: true })
    }
  })

  it('is optional: without a writable folder there is none', () => {
    expect(openProcessPlace({ path: '/dev/null/process', clock, log })).toBeUndefined()
  })
})
