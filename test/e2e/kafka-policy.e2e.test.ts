// `weir policy` over a real broker, while the stages run on.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { withPipeline } from '../support/pipeline.ts'
import { always, call, says } from '../support/script.ts'
import { openCommandFolder } from '../support/weir-command.ts'

let brokers: string[] = []
beforeAll(async () => {
  brokers = (await sharedBroker()).bootstrapServers.split(',')
}, brokerStartMs)

it('sets thresholds and modes of rules from the next model response on, shows them, and unsets them', async () => {
  const topicPrefix = `policy-${randomUUID().slice(0, 8)}.`
  const environment = {
    WEIR_BUS: 'kafka',
    WEIR_BOOTSTRAP_SERVER: brokers.join(','),
    WEIR_TOPIC_PREFIX: topicPrefix,
  }
  const model = always(() => says(call('exec', {})))
  const commands = await openCommandFolder(model)
  const run = (...args: string[]) => commands.run(['policy', ...args], { environment })
  const openBus = (folder: string) =>
    openKafkaBus({
      client: { brokers, clientId: 'kafka-policy' },
      clock: systemClock,
      log: pino({ level: process.env.WEIR_TEST_LOG ?? 'fatal' }),
      tablesFolder: join(folder, 'tables'),
    })
  try {
    await withPipeline({ model, topicPrefix, openBus }, async ({ ask }) => {
      const raised = async (message: string) =>
        (await ask(message)).activity.flatMap((event) =>
          event.type === 'intervention-raised'
            ? [[event.shadow, event.intervention.action, event.round]]
            : [],
        )
      expect(await run('set', '*', 'loop.identicalFailures=2')).toMatchObject({
        code: 0,
        errors: '',
      })
      expect((await raised('one')).slice(0, 1)).toEqual([[false, 'nudge', 2]])

      expect(
        await run('set', 'test-agent', 'rule.identical-failure=shadow', 'caps.rounds=5'),
      ).toMatchObject({ code: 0, errors: '' })
      expect(await raised('two')).toEqual([
        [true, 'nudge', 2],
        [true, 'text_only', 3],
        [true, 'end', 4],
      ])
      const got = JSON.parse((await run('get', 'test-agent', '--json')).out)
      expect(got.effective).toMatchObject({
        'loop.identicalFailures': { value: '2', origin: 'operator-all' },
        'rule.identical-failure': { value: 'shadow', origin: 'operator' },
      })
      expect(await run('diff', 'test-agent', 'rule.identical-failure=enforce')).toMatchObject({
        code: 1,
        errors: '',
      })

      expect(await run('unset', 'test-agent')).toMatchObject({ code: 0, errors: '' })
      expect(await run('unset', '*')).toMatchObject({ code: 0, errors: '' })
      expect((await raised('three')).slice(0, 1)).toEqual([[false, 'nudge', 3]])
    })
  } finally {
    await commands.close()
  }
})
