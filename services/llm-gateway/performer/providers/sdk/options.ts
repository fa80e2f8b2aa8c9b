// Options of every SDK: the gateway owns retries, deadlines and logs.

/** The longest wait of a timer. The gateway watches deadlines itself, byte by byte. */
const never = 2 ** 31 - 1

export const sdkOptions = { maxRetries: 0, timeout: never, logLevel: 'off' } as const

/** The SDKs add these headers to those of each request. */
const headerVariables = ['ANTHROPIC_CUSTOM_HEADERS', 'OPENAI_CUSTOM_HEADERS']

/**
 * Makes a client without the headers of the environment. They are meant for the vendor's server and
 * may hold a key, and the client's server can be another one.
 */
export function withoutEnvironmentHeaders<Client>(makeClient: () => Client): Client {
  const kept = headerVariables.map((name) => [name, process.env[name]] as const)
  for (const name of headerVariables) delete process.env[name]
  try {
    return makeClient()
  } finally {
    for (const [name, value] of kept) if (value !== undefined) process.env[name] = value
  }
}
