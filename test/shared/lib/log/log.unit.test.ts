import { describe, expect, it } from '@jest/globals'
import { createLog } from '../../../../shared/lib/log/log.ts'

describe('the log', () => {
  it.each([
    ['an agent', { agent: { model: { apiKey: 'SECRET' } } }],
    ['a model', { model: { apiKey: 'SECRET' } }],
    ["an SDK's error", { err: { headers: { authorization: 'Bearer SECRET' } } }],
    ['a request', { request: { headers: { 'x-api-key': 'SECRET' } } }],
    ['a nested request', { failure: { request: { headers: { Authorization: 'Bearer SECRET' } } } }],
    ['a header alone', { headers: { authorization: 'SECRET' } }],
  ])('never shows a secret, even if the program logs %s as a whole', (_, fields) => {
    const lines: string[] = []
    createLog({ level: 'info', destination: { write: (line: string) => lines.push(line) } }).info(
      fields,
      'said',
    )
    expect(lines.join('')).toContain('[secret]')
    expect(lines.join('')).not.toContain('SECRET')
  })
})
