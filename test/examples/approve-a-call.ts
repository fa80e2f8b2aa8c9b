import { z } from 'zod'
import { call, says, scriptedModel } from '../../client/testing/testing.ts'
import { defineAgent, defineTool, Weir } from '../../client/weir.ts'

const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back',
  parameters: z.object({ order: z.number() }),
  run: ({ order }) => `paid back order ${order}`,
})
const model = scriptedModel(says(call('refund', { order: 17 })), ({ newResults }) =>
  says(`Done: ${newResults.join()}.`),
)
const agent = defineAgent({ name: 'shop', model, system: 'You help.', tools: [refund] })

const weir = await Weir.open({
  agents: [agent],
  approvals: { rules: [{ name: 'money', tools: ['refund'] }], waitMs: 600_000 },
})
const turn = weir.ask({ agent, text: 'Refund order 17.' })
for await (const event of turn) {
  if (event.type !== 'approval-pending') continue
  for (const { id, name, rawArguments, hash, rule } of event.calls) {
    console.log(`${rule}: ${name} ${rawArguments}`)
    await weir.allow(id, { by: 'ada', hash })
  }
}
console.log((await turn.finished).reply)
await weir.close()
