// Detects words that name a secret, by the usual names of secrets in any place. Reading is refused
// as well as writing. Every word of a command is checked, because paths also occur inside words:
// `--key=~/.ssh/id`, `@.env`, `host:.ssh/x`, `open('.env')`. Weir's own data folder counts too.

import { isPlain, list, mayBe, nameOf, resolved } from './field.ts'

/** Names of folders in which everything is secret. */
const folders = list('.ssh .gnupg .aws .azure .kube .password-store .oci .weir')
/** Ends of paths of folders in which everything is secret. */
const folderPaths = list(`.config/gcloud .config/gh .config/doctl .local/share/keyrings
  .docker/config.json .cargo/credentials`)
const files =
  list(`.netrc .pgpass .my.cnf .git-credentials .vault-token .env .envrc .htpasswd .s3cfg
  .boto .pypirc id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk shadow- gshadow-
  application_default_credentials.json kubeconfig master.key credentials.toml
  weir.db weir.db-wal weir.db-shm weir.db-lock weir.db-owner`)
const absolute = list(`/etc/shadow /etc/gshadow /etc/sudoers /etc/sudoers.d /etc/ssl/private
  /etc/krb5.keytab /etc/kubernetes/pki /run/secrets /var/run/secrets /proc/self/environ /proc/kcore
  /dev/mem /root/.bash_history`)
/** Addresses at which a cloud hands out a machine's credentials. */
const metadata = list(`169.254.169.254 169.254.170.2 metadata.google.internal fd00:ec2::254
  100.100.100.200`)

const environmentSamples = /^\.env\.(example|sample|template|dist|defaults?|schema)$/
const privateKey = /\.(key|p12|pfx|jks|keystore|kdbx|ppk|agekey)$/
const pem = /\.pem$/
const publicPem = /(^|[-_.])(ca|cacert|cert|certs|chain|fullchain|pub|public|bundle|root)([-_.]|$)/
const hostKey = /^ssh_host_.*_key$/
const serviceAccount = /^service[-_]?account.*\.json$/
/** Also of the parent: its environment, memory and open files. */
const processes = /^\/proc\/[^/]+\/(environ|mem|maps|fd|root|cwd|task)(\/|$)/

/** Commands that print credentials: a name, and words that must all be among its arguments. */
const printing = [
  'gpg --export-secret-keys',
  'gpg --export-secret-subkeys',
  'gcloud auth print-access-token',
  'gcloud auth print-identity-token',
  'aws configure get',
  'aws configure export-credentials',
  'aws sts get-session-token',
  'az account get-access-token',
  'gh auth token',
  'git credential fill',
  'kubectl get secret',
  'kubectl get secrets',
  'security find-generic-password',
  'security find-internet-password',
  'secret-tool lookup',
].map(list)

export function printsSecret([name = '', ...args]: readonly string[]): boolean {
  return printing.some(
    ([command, ...words]) => nameOf(name) === command && words.every((word) => args.includes(word)),
  )
}

/**
 * The secret that a word names, as a message may show it. Undefined: none. `from`: possible folders
 * of a relative path.
 */
export function secretIn(field: string, from: readonly string[] | undefined): string | undefined {
  for (const host of metadata)
    if (field.includes(host)) return `the credentials that a cloud hands out at ${host}`
  // The word itself, and its parts between the characters after which a path may begin.
  for (const piece of new Set([field, ...field.split(/[=:@,;\s'"`()<>|]/)])) {
    const secret = secretPath(piece) ?? secretPlace(piece, from)
    if (secret !== undefined) return secret
  }
  return undefined
}

function secretPath(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  const name = parts.at(-1)
  if (name === undefined) return undefined
  for (const folder of folders)
    if (parts.some((part) => maybe(part, folder))) return `what lies in ${folder}`
  const joined = `/${parts.join('/')}/`
  for (const folder of folderPaths)
    if (joined.includes(`/${folder}/`)) return `what lies in ${folder}`
  for (const file of files) if (maybe(name, file)) return file
  if (name.startsWith('.env.') && !environmentSamples.test(name)) return name
  if (name.endsWith('.pub')) return undefined
  if (privateKey.test(name) || hostKey.test(name) || serviceAccount.test(name))
    return `${name}, which looks like a key`
  if (pem.test(name) && !publicPem.test(name)) return `${name}, which looks like a private key`
  return undefined
}

function secretPlace(path: string, from: readonly string[] | undefined): string | undefined {
  for (const folder of path.startsWith('/') ? ['/'] : (from ?? [])) {
    const full = resolved(path, folder)
    if (full === undefined) continue
    for (const place of absolute)
      if (full.startsWith(`${place}/`) || samePath(full, place)) return place
    if (processes.test(full)) return full
  }
  return undefined
}

function samePath(pattern: string, path: string): boolean {
  const parts = pattern.split('/')
  const expected = path.split('/')
  return (
    parts.length <= expected.length &&
    (!isPlain(pattern) || pattern === path) &&
    parts.every((part, i) => part === expected[i] || maybe(part, expected[i] as string))
  )
}

/** A lone `*` is frequent and may be anything. One or two letters make it specific. */
function maybe(part: string, secret: string): boolean {
  if (isPlain(part)) return part === secret
  const letters = part.replace(/[\uE000-\uE003]/g, '').length
  const least = secret.startsWith('.') ? 1 : 2
  return letters >= least && letters <= secret.length && mayBe(part, secret)
}
