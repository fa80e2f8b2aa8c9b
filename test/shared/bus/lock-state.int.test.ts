import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { lockStateOf } from '../../../shared/bus/embedded/lock.ts'
import { systemClock } from '../../../shared/lib/clock.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a process that checks the lock of a file', () => {
  it('sees it free if there is no lock, and after its holder has ended', async () => {
    const file = join(folder, 'weir.db')
    expect(lockStateOf(file)).toEqual({ kind: 'free' })
    await (await openEmbeddedBus({ file, clock: systemClock })).close()
    expect(lockStateOf(file)).toEqual({ kind: 'free' })
  })

  it('sees the holder, and does not steal the lock', async () => {
    const file = join(folder, 'weir.db')
    const bus = await openEmbeddedBus({ file, clock: systemClock })
    try {
      expect(lockStateOf(file)).toEqual({ kind: 'held', pid: process.pid })
      expect(lockStateOf(file)).toEqual({ kind: 'held', pid: process.pid })
      await expect(openEmbeddedBus({ file, clock: systemClock })).rejects.toMatchObject({
        code: 'bus.locked',
      })
    } finally {
      await bus.close()
    }
  })
})
