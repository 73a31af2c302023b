//! The methods of the Bot API: what each does here and which limit counts it.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Which budget a method takes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// A send or an edit: the chat's budget and the bot's.
    Message,
    Typing,
    Draft,
    /// The bot's own settings, counted by method.
    Profile,
    Free,
}

/// What a method does to what the platform knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Send,
    Album,
    Copy,
    /// `copyMessages` and `forwardMessages`: as many as ids.
    Many,
    Topic,
    Edit,
    Delete,
    DeleteMany,
    Typing,
    Draft,
    GetMe,
    GetUpdates,
    SetWebhook,
    DeleteWebhook,
    WebhookInfo,
    GetFile,
    GetChat,
    GetMember,
    /// Answers this JSON and changes nothing.
    Says(&'static str),
}

impl Act {
    /// Whether it may be a paid broadcast: it makes messages.
    pub(crate) fn may_be_paid(self) -> bool {
        matches!(self, Self::Send | Self::Album | Self::Copy | Self::Many)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Method {
    /// As the documentation writes it.
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    pub(crate) act: Act,
}

impl Method {
    /// Whether it stands in a chat, so that a forced answer and the log can name it.
    pub(crate) fn reads_chat(&self) -> bool {
        !matches!(self.act, Act::GetMe | Act::GetUpdates | Act::SetWebhook | Act::DeleteWebhook | Act::GetFile)
    }
}

/// Methods that answer a `Message`.
const SENDS: &str = "sendMessage sendPhoto sendAudio sendDocument sendVideo sendAnimation sendVoice sendVideoNote \
    sendPaidMedia sendLivePhoto sendLocation sendVenue sendContact sendPoll sendChecklist sendDice sendSticker \
    sendInvoice sendGame sendRichMessage forwardMessage";

const EDITS: &str = "editMessageText editMessageCaption editMessageMedia editMessageReplyMarkup editMessageChecklist \
    editMessageLiveLocation stopMessageLiveLocation";

/// Edits of messages that one user alone sees: they have ids of their own and answer `true`.
const EPHEMERAL: &str = "editEphemeralMessageText editEphemeralMessageCaption editEphemeralMessageMedia \
    editEphemeralMessageReplyMarkup";

const PROFILE: &str = "setMyCommands deleteMyCommands setMyName setMyDescription setMyShortDescription \
    setMyProfilePhoto removeMyProfilePhoto setChatMenuButton setMyDefaultAdministratorRights";

/// Methods that answer `true`.
const TRUE: &str = "logOut close answerCallbackQuery answerInlineQuery answerShippingQuery answerPreCheckoutQuery \
    setMessageReaction setUserEmojiStatus banChatMember unbanChatMember restrictChatMember promoteChatMember \
    setChatAdministratorCustomTitle setChatMemberTag banChatSenderChat unbanChatSenderChat setChatPermissions \
    approveChatJoinRequest declineChatJoinRequest setChatPhoto deleteChatPhoto setChatTitle setChatDescription \
    pinChatMessage unpinChatMessage unpinAllChatMessages leaveChat setChatStickerSet deleteChatStickerSet \
    editForumTopic closeForumTopic reopenForumTopic deleteForumTopic unpinAllForumTopicMessages editGeneralForumTopic \
    closeGeneralForumTopic reopenGeneralForumTopic hideGeneralForumTopic unhideGeneralForumTopic \
    unpinAllGeneralForumTopicMessages deleteEphemeralMessage createNewStickerSet addStickerToSet \
    setStickerPositionInSet deleteStickerFromSet replaceStickerInSet setStickerEmojiList setStickerKeywords \
    setStickerMaskPosition setStickerSetTitle setStickerSetThumbnail setCustomEmojiStickerSetThumbnail \
    deleteStickerSet sendGift giftPremiumSubscription verifyUser verifyChat removeUserVerification \
    removeChatVerification readBusinessMessage deleteBusinessMessages setBusinessAccountName \
    setBusinessAccountUsername setBusinessAccountBio setBusinessAccountProfilePhoto removeBusinessAccountProfilePhoto \
    setBusinessAccountGiftSettings transferBusinessAccountStars convertGiftToStars upgradeGift transferGift \
    deleteStory refundStarPayment editUserStarSubscription setPassportDataErrors setGameScore approveSuggestedPost \
    declineSuggestedPost answerChatJoinRequestQuery deleteMessageReaction deleteAllMessageReactions \
    sendChatJoinRequestWebApp setManagedBotAccessSettings";

const SPECIAL: &[(&str, Family, Act)] = &[
    ("sendMediaGroup", Family::Message, Act::Album),
    ("copyMessage", Family::Message, Act::Copy),
    ("copyMessages", Family::Message, Act::Many),
    ("forwardMessages", Family::Message, Act::Many),
    ("createForumTopic", Family::Message, Act::Topic),
    ("deleteMessage", Family::Free, Act::Delete),
    ("deleteMessages", Family::Free, Act::DeleteMany),
    ("sendChatAction", Family::Typing, Act::Typing),
    ("sendMessageDraft", Family::Draft, Act::Draft),
    ("sendRichMessageDraft", Family::Draft, Act::Draft),
    ("getMe", Family::Free, Act::GetMe),
    ("getUpdates", Family::Free, Act::GetUpdates),
    ("setWebhook", Family::Free, Act::SetWebhook),
    ("deleteWebhook", Family::Free, Act::DeleteWebhook),
    ("getWebhookInfo", Family::Free, Act::WebhookInfo),
    ("getFile", Family::Free, Act::GetFile),
    ("getChat", Family::Free, Act::GetChat),
    ("getChatMember", Family::Free, Act::GetMember),
];

const INVITE: &str = r#"{"invite_link":"https://t.me/+sandbox","creator":{"id":1,"is_bot":true,"first_name":"Sandbox"},"creates_join_request":false,"is_primary":false,"is_revoked":false}"#;
const STORY: &str = r#"{"chat":{"id":1,"type":"private","first_name":"User 1"},"id":1}"#;
const GIFTS: &str = r#"{"total_count":0,"gifts":[]}"#;

/// Methods that answer something fixed.
const SAYS: &[(&str, &str)] = &[
    ("getChatAdministrators", "[]"),
    ("getChatMemberCount", "2"),
    ("getMyCommands", "[]"),
    ("getMyName", r#"{"name":"Sandbox"}"#),
    ("getMyDescription", r#"{"description":""}"#),
    ("getMyShortDescription", r#"{"short_description":""}"#),
    ("getChatMenuButton", r#"{"type":"default"}"#),
    ("getUserProfilePhotos", r#"{"total_count":0,"photos":[]}"#),
    ("getForumTopicIconStickers", "[]"),
    ("getCustomEmojiStickers", "[]"),
    ("getGameHighScores", "[]"),
    ("getUserChatBoosts", r#"{"boosts":[]}"#),
    ("getMyStarBalance", r#"{"amount":0}"#),
    ("getStarTransactions", r#"{"transactions":[]}"#),
    ("getAvailableGifts", r#"{"gifts":[]}"#),
    ("getBusinessAccountStarBalance", r#"{"amount":0}"#),
    ("getBusinessAccountGifts", GIFTS),
    ("getChatGifts", GIFTS),
    ("getUserGifts", GIFTS),
    ("getUserPersonalChatMessages", "[]"),
    ("getUserProfileAudios", r#"{"total_count":0,"audios":[]}"#),
    ("getStickerSet", r#"{"name":"sandbox","title":"Sandbox","sticker_type":"regular","stickers":[]}"#),
    ("uploadStickerFile", r#"{"file_id":"sticker","file_unique_id":"usticker"}"#),
    ("savePreparedInlineMessage", r#"{"id":"1","expiration_date":2000000000}"#),
    ("createChatInviteLink", INVITE),
    ("createChatSubscriptionInviteLink", INVITE),
    ("editChatInviteLink", INVITE),
    ("editChatSubscriptionInviteLink", INVITE),
    ("revokeChatInviteLink", INVITE),
    ("postStory", STORY),
    ("editStory", STORY),
    ("repostStory", STORY),
    ("answerWebAppQuery", "{}"),
    ("exportChatInviteLink", r#""https://t.me/+sandbox""#),
    ("createInvoiceLink", r#""https://t.me/$sandbox""#),
    (
        "stopPoll",
        r#"{"id":"1","question":"?","options":[],"total_voter_count":0,"is_closed":true,"is_anonymous":true,"type":"regular","allows_multiple_answers":false,"allows_revoting":false,"members_only":false}"#,
    ),
    (
        "getMyDefaultAdministratorRights",
        r#"{"is_anonymous":false,"can_manage_chat":false,"can_delete_messages":false,"can_manage_video_chats":false,"can_restrict_members":false,"can_promote_members":false,"can_change_info":false,"can_invite_users":false,"can_post_stories":false,"can_edit_stories":false,"can_delete_stories":false,"can_send_welcome_messages":false}"#,
    ),
];

static METHODS: LazyLock<HashMap<String, Method>> = LazyLock::new(|| {
    let words = |names: &'static str, family, act| names.split_whitespace().map(move |name| (name, family, act));
    let says = SAYS.iter().map(|&(name, answer)| (name, Family::Free, Act::Says(answer)));
    words(SENDS, Family::Message, Act::Send)
        .chain(words(EDITS, Family::Message, Act::Edit))
        .chain(words(EPHEMERAL, Family::Message, Act::Says("true")))
        .chain(words(PROFILE, Family::Profile, Act::Says("true")))
        .chain(words(TRUE, Family::Free, Act::Says("true")))
        .chain(SPECIAL.iter().copied())
        .chain(says)
        .map(|(name, family, act)| (name.to_ascii_lowercase(), Method { name, family, act }))
        .collect()
});

/// Finds a method by its name in any case; the Bot API server lower-cases it.
pub(crate) fn find(name: &str) -> Option<Method> {
    METHODS.get(&name.to_ascii_lowercase()).copied()
}

#[cfg(test)]
mod tests {
    use super::{Act, METHODS, find};

    #[test]
    fn names_in_any_case_and_fixed_answers_are_json() {
        assert_eq!(find("SENDmessage").map(|method| method.name), Some("sendMessage"));
        assert!(find("sendMessag").is_none());
        for method in METHODS.values() {
            if let Act::Says(text) = method.act {
                assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{}", method.name);
            }
        }
    }
}
