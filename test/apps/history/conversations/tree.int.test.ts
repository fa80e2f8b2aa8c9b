import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type ConversationsOptions,
  listConversations,
} from '../../../../apps/history/conversations/conversations.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { busKindOf } from '../../../../shared/bus/kinds.ts'
import type { Message, Parent } from '../../../../shared/contract/messages.ts'
import { partitionOf } from '../../../../shared/contract/partition.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { toRecord } from '../../../../shared/runtime/record.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { turnFinished, turnStarted } from '../../../support/activity.ts'
import { printed } from '../../../support/output.ts'
import { environmentOf, weirCommand } from '../../../support/programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-tree-'))
const settings = readSettings({ dataFolder: folder }, {})
const child = 'call/order-7/7/1/0'
const parent: Parent = { root: 'order-7', conversation: null }

beforeAll(async () => {
  const kind = busKindOf(settings)
  if (!kind.isLocal) throw new Error('the log of a data folder is local')
  const bus = await openEmbeddedBus({ file: kind.logFile(settings), clock: systemClock })
  const { topicPrefix, partitions } = settings
  await bus.ensureTopics(topicSpecs(topicPrefix, partitions))
  const write = (message: Message & { conversation: string }) => {
    const partition = partitionOf(message.conversation, partitions)
    return bus.append([toRecord({ topic: `${topicPrefix}activity`, partition, message })])
  }
  for (const [conversation, place] of [
    ['order-7', null],
    [child, null],
    ['helper-2', parent],
    ['order-8', null],
  ] as const) {
    const at = { conversation, turn: 7 }
    await write({ ...turnStarted(), ...at, parent: place } as Message & typeof at)
    const end = conversation === child ? ({ outcome: 'failed', class: 'stopped' } as const) : {}
    await write({ ...turnFinished(end), ...at })
  }
  await bus.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

const shown = (options: ConversationsOptions) =>
  printed((out) => listConversations(settings, options, out))

describe('weir conversations --tree', () => {
  it('prints the lines of the tree by parent, its sum and the children that were stopped', async () => {
    const lines = (await shown({ tree: 'order-7' })).split('\n')
    expect(lines[0]).toBe('order-7')
    expect(lines[2]).toBe(`  ${child}`)
    expect(lines[3]).toContain('failed (stopped)')
    expect(lines[4]).toBe('  helper-2  parent not known')
    expect(lines[6]).toContain('Sum of order-7: 3 conversations, 3 turns')
    expect(lines[7]).toBe(`    stopped: ${child}`.slice(2))
  })

  it('finds the tree by the id of a child, and prints one object with --json', async () => {
    const tree = JSON.parse(await shown({ tree: child, json: true }))
    expect(tree).toMatchObject({ root: 'order-7', sum: { conversations: 3, stopped: [child] } })
  })

  it('needs no other flag of the command', () => {
    const words = ['conversations', '--tree', 'order-7', '--data-folder', folder]
    const lines = execFileSync(weirCommand, words, { env: environmentOf(), encoding: 'utf8' })
    expect(lines).toContain('Sum of order-7: 3 conversations')
  })

  it('refuses an order of the list, because a tree has its own', async () => {
    await expect(shown({ tree: 'order-7', sort: 'cost' })).rejects.toThrow(
      '--sort and --tree are given',
    )
  })

  it('refuses an id that no tree has', async () => {
    await expect(shown({ tree: 'order-9' })).rejects.toThrow("no turn has the tree 'order-9'")
  })

  it('lists the conversations of a tree with the filter of its root', async () => {
    const list = await shown({ where: ['tree=order-7'] })
    expect(list).toContain('helper-2')
    expect(list).not.toContain('order-8')
  })
})
