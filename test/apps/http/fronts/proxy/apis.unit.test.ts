import { describe, expect, it } from '@jest/globals'
import { apiAt, isOfWeir } from '../../../../../apps/http/fronts/proxy/apis.ts'

const at = (method: string, path: string) => {
  const found = apiAt(method, path)
  return found.kind === 'api' ? found.api.request.routes[0]?.end : found.kind
}

const vertex = '/v1/projects/p/locations/l/publishers'

describe('the API at a path', () => {
  it.each([
    '/v1/chat/completions',
    '/chat/completions?api-version=1',
    '//v1/chat/completions',
    '/v1//chat/completions/',
    '/v1/./chat/completions',
    '/v1/chat/%63ompletions',
    '/v1/chat/completions;x=1',
    '/v1/chat/%2563ompletions',
    '/v1/%ff/chat/%63ompletions',
    '/v1/Chat/Completions',
    '/v1\\chat/completions',
    '/openai/deployments/x/chat/completions?api-version=2026-01-01',
  ])('is Chat Completions in each spelling that a server may accept: %s', (path) => {
    expect(at('POST', path)).toBe('/chat/completions')
  })

  it.each([
    ['POST', '/v1/messages?beta=true', '/messages'],
    ['POST', '/anthropic/v1/messages', '/messages'],
    ['POST', `${vertex}/anthropic/models/claude-x@1:rawPredict`, '/messages'],
    ['POST', `${vertex}/anthropic/models/claude-x:streamRawPredict`, '/messages'],
    ['POST', `${vertex}/mistralai/models/x:rawPredict`, 'unknown'],
    ['POST', `${vertex}/anthropic/models/count-tokens:rawPredict`, 'unknown'],
    ['POST', `${vertex}/google/models/g:generateContent`, ':generatecontent'],
    ['POST', `${vertex}/google/models/g:streamGenerateContent?alt=sse`, ':generatecontent'],
    ['POST', '/v1/projects/p/locations/l/endpoints/openapi/chat/completions', '/chat/completions'],
    ['POST', '/openai/v1/chat/completions?api-version=preview', '/chat/completions'],
    ['POST', '/models/chat/completions?api-version=2026-01-01', '/chat/completions'],
    ['POST', '/openai/responses?api-version=2026-01-01', '/responses'],
    ['POST', '/openai/v1/responses', '/responses'],
    ['POST', '/model/anthropic.claude-x-v1%3A0/converse', '/converse'],
    ['POST', '/model/us.x/converse-stream', '/converse'],
    ['POST', '/model/arn%3Aaws%3Ax%2Fy/converse', '/converse'],
    ['POST', '/converse', 'unknown'],
    ['POST', '/model/m/invoke', '/invoke'],
    ['POST', '/model/arn%3Aaws%3Ax%2Fy/invoke-with-response-stream', '/invoke'],
    ['POST', '/model/m/invoke-with-bidirectional-stream', 'unknown'],
    ['POST', '/invoke', 'unknown'],
    ['GET', '/model/m/invoke', 'unknown'],
    ['POST', '/model/m/count-tokens', 'no-calls'],
    ['POST', '/v1/responses', '/responses'],
    ['POST', '/v1beta/models/gemini-x:generateContent?key=k', ':generatecontent'],
    ['POST', '/v1beta/models/gemini-x:streamGenerateContent?alt=sse', ':generatecontent'],
    ['POST', '/v1beta/models/gemini-x:streamGenerateContent', 'unknown'],
    ['POST', '/v1beta/models/gemini-x:batchGenerateContent', 'unknown'],
    ['GET', '/v1/models?limit=2', 'no-calls'],
    ['POST', '/v1/messages/count_tokens?beta=true', 'no-calls'],
    ['POST', '/v1/embeddings', 'no-calls'],
    ['POST', '/v1beta/models/gemini-x:countTokens?key=k', 'no-calls'],
    ['POST', '/v1beta/models/gemini-x:embedContent', 'no-calls'],
    ['POST', '/api/event_logging/batch', 'no-calls'],
    ['POST', '/api/embed', 'no-calls'],
    ['POST', '/v1/traces', 'no-calls'],
    ['GET', '/v1/models/deepseek/deepseek-r1:free', 'no-calls'],
    ['GET', '/', 'no-calls'],
    ['HEAD', '/v1/responses/resp_1', 'no-calls'],
    ['POST', '/v1/uploads/u/cancel', 'no-calls'],
    ['DELETE', '/v1/responses/resp_1', 'look-up'],
    ['GET', '/v1/files/f/content', 'look-up'],
    ['GET', '/v1/batches/b', 'look-up'],
    ['GET', '/v1/responses/resp_1', 'unknown'],
    ['GET', '/v1/chat/completions', 'unknown'],
    ['GET', '/v1/responses/models', 'unknown'],
    ['GET', '/v1/chat/completions/models/x', 'unknown'],
    ['POST', '/v1/responses/resp_1/cancel', 'unknown'],
    ['POST', '/v1beta/models/m:batch', 'unknown'],
    ['POST', '/v1beta/models/m:batchEmbedContents/batch', 'unknown'],
    ['POST', '/v1/chat/completions/logs', 'unknown'],
    ['POST', '/v1/logs', 'unknown'],
    ['GET', '/v1beta/models/m:generateContent', 'unknown'],
    ['GET', '/v1beta/models/m:streamGenerateContent', 'unknown'],
    ['POST', '/v1/chat/completions%23/files', 'unknown'],
    ['POST', '/v1/chat/completions%253f/files', 'unknown'],
    ['GET', '/v1/messages/batches/b/results', 'unknown'],
    ['PUT', '/v1/chat/completions', 'unknown'],
    ['POST', '/v1/responses/compact', 'unknown'],
    ['POST', '/api/chat', '/api/chat'],
    ['POST', '/ollama/API/chat/', '/api/chat'],
    ['POST', '/api/generate', 'unknown'],
    ['GET', '/api/chat', 'unknown'],
    ['GET', '/api/version', 'no-calls'],
    ['POST', '/api/pull', 'no-calls'],
    ['DELETE', '/api/delete', 'no-calls'],
    ['POST', '/v1beta/models/x:batchGenerateContent', 'unknown'],
    ['POST', '/%zz/chat', 'unknown'],
    ['POST', '/', 'unknown'],
  ])('of %s %s is %s', (method, path, expected) => expect(at(method, path)).toBe(expected))
})

describe('a path of Weir itself', () => {
  it.each([
    '/v1/hooks/coder/pre/',
    '/v1//hooks/coder/pre',
    '/V1/Hooks',
    '/v1/guest/x/after-model;a',
  ])('is %s, which no provider may answer', (path) => expect(isOfWeir(path)).toBe(true))

  it.each(['/v1/messages', '/v1/hooksy', '/hooks'])('is not %s', (path) =>
    expect(isOfWeir(path)).toBe(false),
  )
})
