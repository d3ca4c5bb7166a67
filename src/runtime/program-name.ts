/** Whether the package runs, instead of its sources. */
const isBuilt = import.meta.url.endsWith('.js')

/**
 * Commands as an operator types them: of the installed package, or in the folder of the sources.
 */
export const programName = {
  start: isBuilt ? 'satchel-server' : 'npm start --',
  doctor: isBuilt ? 'satchel-doctor' : 'npm run doctor --',
  admin: isBuilt ? 'satchel-admin' : 'npm run admin --',
}
