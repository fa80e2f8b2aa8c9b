// The kinds of model requests that pass a guest's proxy unjudged, by their names for people. A kind
// that is not listed has its method and path as its name.

/** APIs that Weir cannot read, and histories that a request leaves at the provider. */
export const unjudgedKinds = [
  ...['Gemini', 'Vertex', 'Bedrock', 'Ollama', 'batches', 'threads of Assistants'],
  ...['previous_response_id', 'conversation', 'prompt', 'background'],
  ...['unreadable body', 'failed judgement'],
] as const

export type UnjudgedKind = (typeof unjudgedKinds)[number]
