//! Prefixes of links to other languages and other wikis, as Wikimedia has them.

/// Codes of languages that have, or had, a wiki.
const LANGUAGES: &str = "aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb \
    ba ban bar bat-smg bbc bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce \
    ceb ch cho chr chy ckb co cr crh cs csb cu cv cy cz da dag de dga din diq dk dsb dtp dty dv dz ee el eml en eo epo es et eu \
    ext fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw \
    gv ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo jp jv ka kaa \
    kab kaj kbd kbp kcg kg kge ki kj kk kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij lld lmo \
    ln lo lrc lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj ms mt mus mwl my myv mzn na nah \
    nan nap nb nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup nv ny oc olo om or os pa pag pam pap pcd pcm pdc \
    pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro roa-rup roa-tara rsk ru rue rup rw sa sah sat sc scn sco sd se sg sgs sh \
    shi shn shy si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw szl szy ta tay tcy tdd te tet tg th ti tig tk tl tly tn to \
    tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war wo wuu xal xh xmf yi yo yue za zea \
    zgh zh zh-classical zh-cn zh-min-nan zh-tw zh-yue zu";

/// Other wikis and sites.
const OTHERS: &str = "acronym b betawiki bugzilla bulba c citizendium commons d doi ethnologue f flickrphoto foundation \
    google hdl imdbname imdbtitle incubator issn iso639-3 jstor luckyhakka m mail mailarchive mediawikiwiki mediazilla meta \
    metawiki metawikipedia mw n nara nost oeis orcid oldwikisource outreach outreachwiki otrs otrswiki phab phabricator pmid q quality \
    rev rfc s species strategy strategywiki svn testwiki tools toollabs ticket tswiki translatewiki tvtropes usability v voy \
    w wikia wikibooks wikicities wikidata wikifunctions wikilivres wikimedia wikinews wikipedia wikiquote wikisource \
    wikispecies wikitech wikiversity wikivoyage wikt wiktionary wm wmch wmf wmfblog wmuk";

/// Whether a link that begins so leads to the same page in another language.
pub(super) fn is_language(prefix: &str) -> bool {
    is_listed(LANGUAGES, prefix)
}

/// Whether a link that begins so leads to another wiki or site.
pub(super) fn is_other_wiki(prefix: &str) -> bool {
    is_listed(OTHERS, prefix)
}

fn is_listed(list: &str, prefix: &str) -> bool {
    let short = prefix.len() <= 16 && prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    short && !prefix.is_empty() && list.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_known_in_any_case_and_only_whole() {
        assert!(is_language("de") && is_language("ZH-min-nan") && is_language("simple"));
        assert!(!is_language("") && !is_language("d") && !is_language("de fr") && !is_language("2001"));
        assert!(is_other_wiki("wikt") && is_other_wiki("Commons") && !is_other_wiki("Star Trek"));
    }
}
