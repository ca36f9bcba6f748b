_dpselect() {
    local word="${COMP_WORDS[COMP_CWORD]}" last="${COMP_WORDS[COMP_CWORD-1]}" name="${COMP_WORDS[1]}" offered=""
    [ "$name" = ledger ] && [ "$COMP_CWORD" -gt 2 ] && name="ledger ${COMP_WORDS[2]}"
    [ "$COMP_CWORD" -eq 1 ] && name=""
    case "$name $last" in
@choices@
    *) case "$name" in
@options@
        esac;;
    esac
    COMPREPLY=($(compgen -W "$offered" -- "$word"))
    [ "${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -o default -F _dpselect dpselect
