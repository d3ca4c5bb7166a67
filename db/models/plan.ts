import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from 'sequelize'

/** The limits of an account and of the workspaces it owns (docs/contract.md, section 7). Null means unlimited. */
export class Plan extends Model<InferAttributes<Plan>, InferCreationAttributes<Plan>> {
  declare id: string
  declare name: string
  declare maxFileSizeBytes: number
  declare maxTotalStorageBytes: number
  declare maxFiles: number | null
  declare maxUserWorkspaces: number
  declare maxFilesWorkspace: number | null
  declare maxTotalStorageBytesWorkspace: number
  declare maxUsersWorkspace: number
  declare maxWorkspaceFolders: number | null
  declare maxPrivateApiKeys: number
  declare maxWorkspaceApiKeys: number
  /** Of the personal storage area. */
  declare maxFolders: number | null
  declare maxPublicLinks: number | null
  /** Of each workspace. */
  declare maxPendingInvites: number | null
  declare maxNotes: number | null

  static define(sequelize: Sequelize): void {
    // Functions, because Sequelize mutates the objects that it receives.
    const limit = () => ({ type: DataTypes.BIGINT, allowNull: false })
    const openLimit = () => ({ type: DataTypes.BIGINT, allowNull: true })
    this.init(
      {
        id: { type: DataTypes.STRING(32), primaryKey: true },
        name: { type: DataTypes.STRING(64), allowNull: false },
        maxFileSizeBytes: limit(),
        maxTotalStorageBytes: limit(),
        maxFiles: openLimit(),
        maxUserWorkspaces: limit(),
        maxFilesWorkspace: openLimit(),
        maxTotalStorageBytesWorkspace: limit(),
        maxUsersWorkspace: limit(),
        maxWorkspaceFolders: openLimit(),
        maxPrivateApiKeys: limit(),
        maxWorkspaceApiKeys: limit(),
        maxFolders: openLimit(),
        maxPublicLinks: openLimit(),
        maxPendingInvites: openLimit(),
        maxNotes: openLimit(),
      },
      { sequelize, tableName: 'plan' },
    )
  }
}
