// The names of the transcript formats. A command line needs them before it loads a reader.

export const transcriptFormats = ['anthropic', 'openai', 'openai-agents'] as const
