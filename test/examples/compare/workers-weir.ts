import { fork } from 'node:child_process'
import { once } from 'node:events'
import { defineAgent, openaiChat, Weir } from '../../../client/weir.ts'

const agent = defineAgent({
  name: 'counter',
  model: openaiChat('mock', { baseUrl: process.env.MODEL_URL }),
  system: 'You count questions.',
})

if (process.send === undefined) {
  const workers = [fork(import.meta.filename), fork(import.meta.filename)]
  const replies = await Promise.all(workers.map((worker) => once(worker, 'message')))
  console.log(
    replies
      .map(([reply]) => reply)
      .sort()
      .join('\n'),
  )
} else {
  await using weir = await Weir.open({ agents: [agent] })
  const text = 'How often did I ask?'
  const { reply } = await weir.ask({ agent, text, conversation: 'ada' }).finished
  process.send(reply, () => process.disconnect())
}
