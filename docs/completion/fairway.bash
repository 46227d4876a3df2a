# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of fairway(1) for bash: source it, or put it into /usr/share/bash-completion/completions/fairway.

_fairway() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command="" i
	local options="--instance --run-dir --json --comment --help --version --live --directory --since --until --from --to --host --port --proto --rule --segment --tenant --line"

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-i | -m | --instance | --run-dir | --comment) ((i++)) ;;
		-*) ;;
		*)
			command=${COMP_WORDS[i]}
			break
			;;
		esac
	done

	COMPREPLY=()
	case $prev in
	-i | --instance)
		mapfile -t COMPREPLY < <(compgen -W "$(cd /run/fairway 2>/dev/null && printf '%s ' *)" -- "$cur")
		return
		;;
	--run-dir | --directory)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	-m | --comment | --since | --until | --from | --to | --host | --port | --proto | --rule | --segment | --tenant | --line) return ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		return
	fi
	case $command in
	"") mapfile -t COMPREPLY < <(compgen -W "apply check diff plan policy show status version" -- "$cur") ;;
	apply | check | diff | plan) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	policy)
		local -A next=([policy]=test [test]=from)
		case $prev in
		policy | test) COMPREPLY=("${next[$prev]}") ;;
		esac
		case $((COMP_CWORD - i)) in
		4) COMPREPLY=(to) ;;
		6) COMPREPLY=(service) ;;
		esac
		;;
	show) mapfile -t COMPREPLY < <(compgen -W "status config plan overlay mtu segments lines bgp routes bfd evpn filter policy flows denies top audit revisions" -- "$cur") ;;
	esac
}
complete -o filenames -F _fairway fairway
