import { describe, expect, it } from '@jest/globals'
import { unjudgedKindOf } from '../../../../../../apps/http/fronts/proxy/unjudged/unjudged-path.ts'
import { limits } from '../../../../../../shared/contract/limits.ts'

describe('the kind of an unjudged request', () => {
  it.each([
    ['/v1beta/models/gemini-3-pro:streamGenerateContent?key=secret', 'Gemini'],
    ['/v1beta/models/gemini-3-pro:batchGenerateContent', 'Gemini'],
    ['/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict', 'Vertex'],
    ['/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict', 'Vertex'],
    ['/v1/projects/p/locations/l/publishers/google/models/m:generateContent', 'Vertex'],
    ['/model/anthropic.claude-v9%3A0/converse-stream', 'Bedrock'],
    ['/model/arn:aws:bedrock:x:1:inference-profile/m/converse', 'Bedrock'],
    ['/model/m/invoke-with-response-stream', 'Bedrock'],
    ['/model/m/invoke-with-bidirectional-stream', 'Bedrock'],
    ['/api/generate', 'Ollama'],
    ['/v1/messages/batches', 'batches'],
    ['/v1/threads/thread_1/runs', 'threads of Assistants'],
    ['/v1/completions', 'POST /v1/completions'],
    ['/v1/responses/resp_68af3c?stream=true', 'POST /v1/responses/{id}'],
    ['/v2/users/4711/chat?key=secret', 'POST /v2/users/{id}/chat'],
  ])('%s is %s', (path, kind) => expect(unjudgedKindOf('POST', path)).toBe(kind))

  it('is found in linear time for any path: a quadratic search does not end in this test', () => {
    for (const part of ['/model/a', '/publishers/a'])
      expect(unjudgedKindOf('POST', `${part.repeat(100_000)}/z`)).toMatch(/^POST /)
  })

  it('is one short line of printable characters for any path', () => {
    const kind = unjudgedKindOf('POST', `/a%1b[2J%0a%e2%80%ae/${'é/'.repeat(500)}`)
    expect(kind).toMatch(/^POST \/a/)
    expect(kind).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(Buffer.byteLength(kind)).toBeLessThanOrEqual(limits.unjudgedKindBytesMax)
  })
})
