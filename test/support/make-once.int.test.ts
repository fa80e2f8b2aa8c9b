// Processes that make the same folder at the same time, and the remains of a killed process.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { makeOnce } from './make-once.ts'

let cache: string
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'weir-made-'))
})
afterEach(() => rmSync(cache, { recursive: true }))

const nameNow = () => 'a'

async function make(folder: string): Promise<void> {
  mkdirSync(folder)
  writeFileSync(join(folder, 'whole'), '')
}

const made = (changes = {}) => makeOnce({ target: join(cache, 'a'), nameNow, make, ...changes })

describe('a folder that several processes need', () => {
  it('is made by the first of two processes, and used by the second', async () => {
    expect(await made()).toBe(true)
    expect(await made()).toBe(false)
    expect(readdirSync(cache)).toEqual(['a'])
  })

  it('is not there after a change of the sources while it was made', async () => {
    let name = 'a'
    const change = async (folder: string) => {
      await make(folder)
      name = 'b'
    }
    await expect(made({ nameNow: () => name, make: change })).rejects.toThrow('the sources changed')
    expect(readdirSync(cache)).toEqual([])
  })

  it('leaves nothing after a failure', async () => {
    const failing = async (folder: string) => {
      await make(folder)
      throw new Error('no space')
    }
    await expect(made({ make: failing })).rejects.toThrow('no space')
    expect(readdirSync(cache)).toEqual([])
  })

  it('is that of the process that gives it its name first', async () => {
    const second = async (folder: string) => {
      await make(folder)
      mkdirSync(join(cache, 'a'))
      writeFileSync(join(cache, 'a', 'first'), '')
    }
    expect(await made({ make: second })).toBe(false)
    expect(readdirSync(cache, { recursive: true })).toEqual(['a', join('a', 'first')])
  })

  it.each(['', JSON.stringify({ pid: 2 ** 22 + 1, startedAt: '1' })])(
    'is made after a process that died with the lock %j',
    async (content) => {
      writeFileSync(join(cache, 'a.lock'), content)
      utimesSync(join(cache, 'a.lock'), 1, 1)
      expect(await made()).toBe(true)
      expect(readdirSync(cache)).toEqual(['a'])
    },
  )

  it('is made while another process removes an old one', async () => {
    symlinkSync(join(cache, 'removed'), join(cache, 'old')) // as an entry that is listed and then gone
    expect(await made()).toBe(true)
  })

  it('stays with the seven newest ones', async () => {
    for (let n = 1; n <= 9; n++) {
      mkdirSync(join(cache, `old${n}`))
      utimesSync(join(cache, `old${n}`), n, n)
    }
    await made()
    expect(readdirSync(cache)).toHaveLength(8)
    expect(existsSync(join(cache, 'old2'))).toBe(false)
    expect(existsSync(join(cache, 'old3'))).toBe(true)
  })
})
