import { fork } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, type ModelMessage } from 'ai'

const mock = createOpenAICompatible({ name: 'mock', baseURL: process.env.MODEL_URL ?? '' })

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
  using database = new DatabaseSync('ai-sdk.db', { timeout: 60_000 })
  database.exec('CREATE TABLE IF NOT EXISTS chats (id TEXT PRIMARY KEY, messages TEXT)')
  database.exec('BEGIN IMMEDIATE') // the other worker waits, so that no message is lost
  const stored = database.prepare('SELECT messages FROM chats WHERE id = ?').get('ada')
  const messages: ModelMessage[] = JSON.parse(String(stored?.messages ?? '[]'))
  messages.push({ role: 'user', content: 'How often did I ask?' })
  const { text, response } = await generateText({
    model: mock('mock'),
    system: 'You count questions.',
    messages,
  })
  const all = JSON.stringify([...messages, ...response.messages])
  database.prepare('INSERT OR REPLACE INTO chats VALUES (?, ?)').run('ada', all)
  database.exec('COMMIT')
  process.send(text, () => process.disconnect())
}
