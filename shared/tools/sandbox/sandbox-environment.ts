// The variables by which programs in a sandbox find the proxy.

/** Of the sandbox's own loopback interface. */
export const proxyPort = 3128

/** Node.js reads them only with the last one. */
export function proxyEnvironment(): Record<string, string> {
  const url = `http://127.0.0.1:${proxyPort}`
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']
  return { ...Object.fromEntries(names.map((name) => [name, url])), NODE_USE_ENV_PROXY: '1' }
}
