import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { loadGuard } from '../../../shared/guards/load-guard.ts'

const fileOf = (guard: string) => fileURLToPath(new URL(`../../../services/guards/${guard}/guard.ts`, import.meta.url))

describe('the guards that ship', () => {
  it('can be loaded with their options, as weir guard run does', async () => {
    expect(await loadGuard(fileOf('shell'), { tools: ['bash'], allowedFolders: ['/work'] })).toMatchObject({
      name: 'shell',
      tools: ['bash'],
      onTimeout: 'reject',
    })
    expect(await loadGuard(fileOf('spend'), { tools: ['pay'], argument: 'cents', limits: { day: '1' }, name: 'budget' })).toMatchObject({
      name: 'budget',
    })
  })

  it('say which option is missing', async () => {
    await expect(loadGuard(fileOf('shell'))).rejects.toThrow(
      "the shell guard's tools is missing. Give it the names of the tools that run commands, e.g. ['bash'].",
    )
    await expect(loadGuard(fileOf('spend'))).rejects.toThrow("the spend guard's tools is missing")
  })
})
