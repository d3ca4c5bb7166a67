/** What is known of a route when one asks which errors it can answer. */
export interface RouteFacts {
  method: string
  path: string
  /** Names of its arguments, as on the wire. */
  args: readonly string[]
  /** Every status besides 200 (or 302). */
  statuses: readonly number[]
  public: boolean
  /** Whether its body is a file, as a form or as it is. */
  takesFile: boolean
  /** Whether calls of one user are counted. */
  isLimited: boolean
}

export type Rule = (route: RouteFacts) => boolean

export const never: Rule = () => false
export const takes =
  (...names: string[]): Rule =>
  ({ args }) =>
    names.some(name => args.includes(name))
export const under =
  (pattern: RegExp): Rule =>
  ({ path }) =>
    pattern.test(path)
export const both =
  (a: Rule, b: Rule): Rule =>
  route =>
    a(route) && b(route)
export const either =
  (a: Rule, b: Rule): Rule =>
  route =>
    a(route) || b(route)

export const writes: Rule = ({ method }) => method !== 'GET'
export const adds: Rule = ({ method }) => method !== 'GET' && method !== 'DELETE'
/** Whether it matters who calls. */
export const knowsCaller: Rule = route => !route.public || route.statuses.includes(401)
export const takesFile: Rule = route => route.takesFile
/** Whether something beside its path is read: only that can be of a wrong type, unknown, missing, or there twice. */
export const isRead: Rule = either(writes, ({ path, args }) => args.some(name => !path.includes(`{${name}}`)))
export const opensShare: Rule = both(takes('password'), ({ public: open }) => open)
/** Inputs that name where something goes. */
export const places = ['path', 'parent_path', 'folder', 'folder_name', 'filename', 'destination']
export const files = under(/\/(files|folders|download_token)(\/|$)/)
export const links = under(/^\/api\/(d|d\/private|share\/\w+)\/\{/)
export const invites = under(/\/invites(\/|$)/)
export const uploads = under(/\/uploads(\/|$)/)
