import type { Sequelize } from 'sequelize'
import { ApiKey } from './models/api-key.ts'
import { Blob } from './models/blob.ts'
import { Bucket } from './models/bucket.ts'
import { Entry } from './models/entry.ts'
import { Event } from './models/event.ts'
import { EventLog } from './models/event-log.ts'
import { Identity } from './models/identity.ts'
import { Installation } from './models/installation.ts'
import { Invite } from './models/invite.ts'
import { Job } from './models/job.ts'
import { MailNotice } from './models/mail-notice.ts'
import { MailRecipient } from './models/mail-recipient.ts'
import { Member } from './models/member.ts'
import { Note } from './models/note.ts'
import { Operator } from './models/operator.ts'
import { Plan } from './models/plan.ts'
import { Session } from './models/session.ts'
import { Share } from './models/share.ts'
import { ShareEvent } from './models/share-event.ts'
import { ShareUse } from './models/share-use.ts'
import { TrashItem } from './models/trash-item.ts'
import { UploadSession } from './models/upload-session.ts'
import { User } from './models/user.ts'
import { Version } from './models/version.ts'
import { Webhook } from './models/webhook.ts'
import { WebhookDelivery } from './models/webhook-delivery.ts'
import { Workspace } from './models/workspace.ts'

/**
 * Defines every model and its associations on a connection.
 * Each is a subclass, because Sequelize binds a class to one connection, and tests open several.
 */
export function defineModels(sequelize: Sequelize) {
  const models = {
    ApiKey: class extends ApiKey {},
    Invite: class extends Invite {},
    MailNotice: class extends MailNotice {},
    MailRecipient: class extends MailRecipient {},
    Member: class extends Member {},
    Workspace: class extends Workspace {},
    Blob: class extends Blob {},
    Bucket: class extends Bucket {},
    Entry: class extends Entry {},
    Event: class extends Event {},
    EventLog: class extends EventLog {},
    Identity: class extends Identity {},
    Installation: class extends Installation {},
    Job: class extends Job {},
    Note: class extends Note {},
    Operator: class extends Operator {},
    Plan: class extends Plan {},
    Session: class extends Session {},
    Share: class extends Share {},
    ShareEvent: class extends ShareEvent {},
    ShareUse: class extends ShareUse {},
    TrashItem: class extends TrashItem {},
    UploadSession: class extends UploadSession {},
    User: class extends User {},
    Version: class extends Version {},
    Webhook: class extends Webhook {},
    WebhookDelivery: class extends WebhookDelivery {},
  }
  for (const model of Object.values(models)) model.define(sequelize)
  models.User.belongsTo(models.Plan, { foreignKey: 'planId', as: 'plan' })
  models.User.hasMany(models.Identity, { foreignKey: 'userId', as: 'identities' })
  models.Session.belongsTo(models.User, { foreignKey: 'userId', as: 'user' })
  models.Operator.belongsTo(models.User, { foreignKey: 'userId', as: 'user' })
  models.Bucket.hasMany(models.Entry, { foreignKey: 'bucketId', as: 'entries', constraints: false })
  models.Entry.belongsTo(models.Blob, { foreignKey: 'blobId', as: 'blob', constraints: false })
  models.Share.belongsTo(models.Entry, { foreignKey: 'entryId', as: 'entry', constraints: false })
  models.UploadSession.belongsTo(models.Blob, { foreignKey: 'id', as: 'blob', constraints: false })
  models.Member.belongsTo(models.Workspace, { foreignKey: 'workspaceId', as: 'workspace' })
  models.Member.belongsTo(models.User, { foreignKey: 'userId', as: 'user' })
  models.Invite.belongsTo(models.Workspace, { foreignKey: 'workspaceId', as: 'workspace' })
  return models
}

export type Models = ReturnType<typeof defineModels>
