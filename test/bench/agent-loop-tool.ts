// The tool of the hand-written agent loops: a POST with fetch.

export async function runTool(
  fetch: typeof globalThis.fetch,
  url: string,
  input: string,
): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/tool`, { method: 'POST', headers, body: input })
  return response.text()
}
