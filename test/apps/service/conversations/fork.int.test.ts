// `weir fork` on a data folder that a program has left.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { pino } from 'pino'
import { fork } from '../../../../apps/service/conversations/fork.ts'
import { openBus } from '../../../../client/place/open-bus.ts'
import { says, scriptedModel } from '../../../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../../../client/weir.ts'
import { ownFormat } from '../../../../shared/codec/codec.ts'
import { keyOf } from '../../../../shared/contract/topology.ts'
import { storedFleet } from '../../../../shared/runtime/fleet/stored-formats.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { output } from '../../../support/output.ts'

it('takes the number of a turn that weir inspect shows, and stores the schemas of its records', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'weir-fork-command-'))
  try {
    const agent = defineAgent({
      name: 'helper',
      model: scriptedModel(says('One.'), says('Two.'), says('Three.')),
      system: 'Help.',
    })
    const weir = await Weir.open({ agents: [agent], dataFolder, log: pino({ level: 'silent' }) })
    await weir.ask({ agent, conversation: 'c', text: 'first' }).finished
    const { turn } = await weir.ask({ agent, conversation: 'c', text: 'second' }).finished
    const { id } = await weir.conversation('c').fork()
    await weir.close()
    const settings = readSettings(
      { dataFolder },
      { WEIR_BUS: 'embedded', WEIR_LOG_LEVEL: 'silent' },
    )
    const forked = async (of: string, number: string) => {
      const out = output()
      await fork(of, { turn: number, json: true }, settings, out.stream)
      return JSON.parse(out.text())
    }
    // A folder of an older Weir lacks the schemas of newer records.
    const bus = await openBus(settings, pino({ level: 'silent' }))
    const place = { bus, topicPrefix: 'weir.' }
    const table = { topic: 'weir.policies', partition: 0 }
    const { formats } = await storedFleet(place)
    expect(formats).toHaveLength(ownFormat - 1)
    await bus.append(formats.map((format) => ({ ...table, key: keyOf(format), value: null })))
    await bus.close()
    const { conversation, ...others } = await forked('c', '1')
    expect(others).toEqual({})
    const after = await openBus(settings, pino({ level: 'silent' }))
    expect(await storedFleet({ ...place, bus: after })).toMatchObject({ formats })
    await after.close()
    await expect(forked('c', `${turn}`)).rejects.toThrow(
      `conversation c has no turn ${turn}; its turns are 1, 2`,
    )
    await expect(forked(id, '1')).rejects.toThrow('has no turn 1; it has no turn')
    await expect(forked('unknown', '1')).rejects.toMatchObject({ code: 'conversation.unknown' })
    const again = await Weir.open({ agents: [agent], dataFolder, log: pino({ level: 'silent' }) })
    const messages = await again.conversation(conversation).messages()
    await again.close()
    expect(messages).toHaveLength(2)
  } finally {
    rmSync(dataFolder, { recursive: true, force: true })
  }
})
